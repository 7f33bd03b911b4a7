// The providers of models and their keys.

import { call, callKept } from '../services/api'
import { whenConnected } from './gateway.svelte'
import { forgetNames } from './names.svelte'

export interface Provider {
  name: string
  kind: string
  baseURL?: string
  keys: string[] | null
}

export interface Key {
  provider: string
  label: string
  state: string
  until?: string
  why?: string
  models?: { model: string; state: string; until?: string; why?: string }[]
  lastUsed?: string
  lastStatus?: number
  successes: number
  errors: number
  weight: number
  onlyModels?: string[]
  secret?: string
}

/** NewProvider is what a person enters; empty fields are those that the gateway knows of the name. */
export interface NewProvider {
  name: string
  kind: string
  baseURL: string
  key: NewKey
  noTest: boolean
}

export interface NewKey {
  label: string
  key: string
  secret: string
}

export interface Tested {
  provider: string
  label: string
  ok: boolean
  models?: number
  names?: string[]
  error?: string
}

class Models {
  providers: Provider[] | null = $state.raw(null)
  keys: Key[] = $state.raw([])
}

export const models = new Models()

const at = (...names: string[]) => names.map(encodeURIComponent).join('/')

export async function loadProviders(): Promise<void> {
  const [list, keys] = await Promise.all([callKept<{ providers: Provider[] | null }>('/providers'), call<{ keys: Key[] | null }>('GET', '/keys')])
  models.providers = list.providers ?? []
  models.keys = keys.keys ?? []
}

/** change sends a change, and loads what there is after it. */
async function change<T>(method: string, path: string, body?: unknown): Promise<T> {
  try {
    return await call<T>(method, path, body)
  } finally {
    forgetNames()
    await loadProviders()
  }
}

/** addProvider adds a provider, and asks it for its models unless it is not to be asked. */
export async function addProvider(p: NewProvider): Promise<void> {
  await change('POST', '/providers', p)
  if (!p.noTest) await testProvider(p.name)
}
export const removeProvider = (name: string) => change('DELETE', `/providers/${at(name)}`)
export const testProvider = async (name: string) => (await change<{ keys: Tested[] }>('POST', `/providers/${at(name)}/test`, {})).keys
export const addKey = (provider: string, key: NewKey) => change('POST', `/providers/${at(provider)}/keys`, key)
export const removeKey = (k: Key) => change('DELETE', `/providers/${at(k.provider)}/keys/${at(k.label)}`)
export const testKey = async (k: Key) => change<Tested>('POST', `/providers/${at(k.provider)}/keys/${at(k.label)}/test`, {})
export const resetKey = (k: Key) => change('POST', `/providers/${at(k.provider)}/keys/${at(k.label)}/reset`, {})
export const enableKey = (k: Key, enabled: boolean) => change('PATCH', `/providers/${at(k.provider)}/keys/${at(k.label)}`, { enabled })

whenConnected(loadProviders)
