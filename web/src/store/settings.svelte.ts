// The settings of the gateway that a person changes here.

import { call } from '../services/api'
import { move, whenConnected, type Moved } from './gateway.svelte'

export type Value = string | boolean | string[]

export interface Setting {
  path: string
  kind: 'text' | 'list' | 'switch' | 'choice' | 'shown' // shown: it cannot be changed here
  choices?: string[]
  value: Value
  source?: string // the file or flag that sets it; none for a default
  live: boolean // a change takes effect at once, else after a restart
}

class Settings {
  file = $state('')
  list: Setting[] | null = $state.raw(null)
}

export const settings = new Settings()

export async function loadSettings(): Promise<void> {
  const got = await call<{ file: string; settings: Setting[] }>('GET', '/settings')
  settings.file = got.file
  settings.list = got.settings
}

/** set writes a setting. What it throws says what is wrong with the value. */
export async function set(path: string, value: Value): Promise<void> {
  await call('PUT', `/settings/${encodeURIComponent(path)}`, { value })
  await loadSettings()
}

export async function unset(path: string): Promise<void> {
  await call('DELETE', `/settings/${encodeURIComponent(path)}`)
  await loadSettings()
}

/** listen has the gateway listen elsewhere. This page moves there. */
export async function listen(addr: string, tlsCert: string, tlsKey: string): Promise<void> {
  if (!(await move(await call<Moved>('PUT', '/listener', { addr, tlsCert, tlsKey })))) await loadSettings()
}

whenConnected(loadSettings)
