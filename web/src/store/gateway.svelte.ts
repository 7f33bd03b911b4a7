// The gateway as this browser sees it: whether it is there, whether we are signed in, and the one stream of its events.
// Stores of features listen with on, and load what they show with whenConnected.

import { call, Failure, signedIn, signIn, signOut, stream, type ServerEvent } from '../services/api'
import type { Problem } from './types'

class Gateway {
  /** used: the link in the address is worth nothing any more. */
  access: 'asking' | 'in' | 'out' | 'used' = $state('asking')
  connected = $state(false)
  /** What went wrong last; null where nothing did, or the person has seen it. */
  problem: Problem | null = $state(null)
}

export const gateway = new Gateway()

type Taker = (e: ServerEvent) => void

const takers = new Map<string, Set<Taker>>()
const loaders = new Set<() => Promise<unknown>>()
let last = '' // id of the last event
let loading = false // what is shown is being loaded, for a connection that is new

/** on has take called with each event of a kind. It returns a function that ends that. */
export function on(kind: string, take: Taker): () => void {
  const set = takers.get(kind) ?? new Set()
  takers.set(kind, set.add(take))
  return () => void set.delete(take)
}

/** whenConnected has load called now if the gateway is there, and whenever it is there again or events were lost. */
export function whenConnected(load: () => Promise<unknown>): () => void {
  loaders.add(load)
  if (gateway.connected || loading) void attempt(load) // a page that comes while others load is not among them
  return () => void loaders.delete(load)
}

export function problemOf(e: unknown): Problem {
  if (e instanceof Failure) return { type: e.type, message: e.message, hint: e.hint, line: e.line, field: e.field }
  return { message: String(e) }
}

/** attempt runs f and shows what goes wrong. */
export async function attempt(f: () => Promise<unknown>): Promise<boolean> {
  try {
    await f()
    return true
  } catch (e) {
    if (e instanceof Failure && e.status === 401) gateway.access = 'out'
    else if (!(e instanceof Failure && e.status === 0)) gateway.problem = problemOf(e) // the stream shows that the gateway is gone
    return false
  }
}

const timers = new Set<unknown>()

/** soon runs f in a moment. Calls with the same f that come until then are one. */
export function soon(f: () => Promise<unknown>): void {
  if (timers.has(f)) return
  timers.add(f)
  setTimeout(() => {
    timers.delete(f)
    void attempt(f)
  }, 100)
}

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms))

/** start signs in where the address has a link, and follows the gateway as long as the page is open. */
export async function start(): Promise<void> {
  addEventListener('hashchange', () => {
    if (location.hash.startsWith('#link=')) location.reload() // a link in a tab that shows the pages
  })
  const params = new URLSearchParams(location.hash.slice(1))
  const link = params.get('link')
  if (link) {
    history.replaceState(null, '', location.pathname + location.search + '#' + (params.get('page') ?? '')) // neither bookmarks nor the history keep it
    dispatchEvent(new HashChangeEvent('hashchange'))
    try {
      await signIn(link)
    } catch {
      gateway.access = (await signedIn().catch(() => false)) ? 'in' : 'used'
      if (gateway.access === 'used') return
    }
  }
  while (gateway.access !== 'in') {
    try {
      gateway.access = (await signedIn()) ? 'in' : 'out'
      if (gateway.access === 'out') return
    } catch {
      await pause(1000)
    }
  }
  await follow()
}

async function follow(): Promise<void> {
  for (let wait = 250; gateway.access === 'in'; wait = Math.min(wait * 2, 5000)) {
    const gone = new AbortController()
    try {
      const joined = stream('/events', last, gone.signal, (e) => {
        wait = 250
        if (e.id) last = e.id
        if (e.kind === 'reset') void loadAll()
        for (const take of takers.get(e.kind) ?? []) take(e)
      })
      loading = true
      await Promise.race([joined, loadAll().then(() => (gateway.connected = true))])
      await joined
    } catch (e) {
      if (e instanceof Failure && e.status === 401) gateway.access = 'out'
    } finally {
      gone.abort()
    }
    loading = false
    gateway.connected = false
    if (gateway.access === 'in') await pause(wait)
  }
}

async function loadAll(): Promise<void> {
  await Promise.all([...loaders].map(attempt)) // one that fails does not keep the others
}

export async function leave(): Promise<void> {
  await signOut()
  location.reload()
}

/** Where the gateway is now. */
export interface Moved {
  url: string
  /** everywhere: any name of its machine leads there, at the port of url. */
  everywhere: boolean
  /** link signs one browser in there. */
  link?: string
}

let moving = false

/** move goes where the gateway is now, and stays signed in. It returns false where that is here. */
export async function move(to: Moved): Promise<boolean> {
  const there = new URL(to.url)
  if (to.everywhere) there.hostname = location.hostname
  if (there.origin === location.origin) return false
  if (moving) return true
  moving = true
  try {
    const link = new URL(to.link ?? (await call<{ address: string }>('POST', '/browsers/links', {})).address)
    if (to.everywhere) link.hostname = location.hostname
    link.hash += '&page=' + encodeURIComponent(location.hash.slice(1))
    location.assign(link)
  } catch (e) {
    moving = false
    throw e
  }
  return true
}

on('gateway.moved', (e) => void attempt(() => move(e.data as Moved)))
