// The connections to SiYuan, which of them tools work with, and how their kernels are.

import { call } from '../services/api'
import { attempt, problemOf, whenConnected } from './gateway.svelte'
import { loadNotebooks } from './notebooks.svelte'
import type { Problem } from './types'

export interface Kernel {
  name: string
  url: string
  /** token is configured, empty, or where it comes from. */
  token: string
  workspace?: string
}

export interface Facts {
  version: string
  workspace?: string
  notebooks: number
  readOnly?: boolean
}

interface List {
  connections: Kernel[]
  current: string
  vault?: string
  missing?: string
  file?: string
  fixed?: string
}

class Kernels {
  list: List | null = $state.raw(null)
  /** states are what the kernels said when they were last asked. */
  states: Record<string, Facts | Problem | 'asking'> = $state({})
}

export const kernels = new Kernels()

const path = (name: string) => `/siyuan/connections/${encodeURIComponent(name)}`

export async function loadKernels(): Promise<void> {
  kernels.list = await call<List>('GET', '/siyuan/connections')
}

/** test asks a kernel who it is. */
export async function test(name: string): Promise<void> {
  kernels.states[name] = 'asking'
  try {
    kernels.states[name] = await call<Facts>('POST', path(name) + '/test', {})
  } catch (e) {
    kernels.states[name] = problemOf(e)
  }
}

/** save saves a connection once its kernel has answered; no token keeps the one that there is. */
export async function save(name: string, url: string, token: string | undefined, untested: boolean): Promise<void> {
  const facts = await call<Facts>('PUT', path(name), { url, untested, ...(token !== undefined && { token }) })
  if (facts.version) kernels.states[name] = facts
  else delete kernels.states[name]
  await changed()
}

export async function use(name: string): Promise<void> {
  try {
    await call('PUT', '/siyuan/current', { name })
  } finally {
    await changed()
  }
}

export async function remove(name: string): Promise<void> {
  await call('DELETE', path(name))
  await changed()
}

async function changed(): Promise<void> {
  await Promise.all([loadKernels(), attempt(loadNotebooks)])
}

whenConnected(loadKernels)
