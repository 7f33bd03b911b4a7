// What the gateway keeps so as not to ask for it again: lists of servers, and what it knows of models.

import { call } from '../services/api'
import { on, soon, whenConnected } from './gateway.svelte'

export interface Lists {
  servers: { name: string; configured: boolean; state: string; tools: number; bytes: number; ageSeconds: number; lastError?: string }[] | null
  lookups: number
  hits: number
  staleHits: number
  misses: number
  hitRate: number
  lastFailure?: string
}

export interface ModelCache {
  name: string
  entries: number
  limit?: number
  hits: number
  misses: number
}

class Caches {
  lists: Lists | null = $state.raw(null)
  models: ModelCache[] = $state.raw([])
}

export const caches = new Caches()

export async function loadCaches(): Promise<void> {
  const [lists, models] = await Promise.all([call<Lists>('GET', '/toolcache/stats'), call<{ caches: ModelCache[] }>('GET', '/caches')])
  caches.lists = lists
  caches.models = models.caches
}

/** forget deletes the lists of the named servers, or all of them. */
export async function forget(names: string[]): Promise<void> {
  await call('POST', '/toolcache/clear', { servers: names })
  await loadCaches()
}

export async function empty(name: string): Promise<void> {
  await call('POST', `/caches/${encodeURIComponent(name)}/clear`, {})
  await loadCaches()
}

for (const kind of ['catalog', 'server.state']) on(kind, () => soon(loadCaches))
whenConnected(loadCaches)
