// The MCP clients of this machine, the tokens that they come in with, and the profiles that say what they see.

import { call } from '../services/api'
import { attempt, whenConnected } from './gateway.svelte'
import type { Cost } from './tools.svelte'

export interface Client {
  name: string
  title: string
  installed: boolean
  file: string
  connected: boolean
  missing?: boolean
  off?: boolean
  http?: boolean
  profile?: string
  problem?: string
}

export interface Wanted {
  http: boolean
  profile: string
}

export interface Change {
  file: string
  text: string
  changed: boolean
  written: boolean
  profile?: string
  next: string
  twice: string[]
}

export interface Token {
  name: string
  profile?: string
  scopes: string[]
  client?: string
  file?: string
  made: string
}

export interface Profile {
  name: string
  tools: number
  list: Cost
  /** rules is missing for a profile that is built in. */
  rules?: Rules
}

export interface Names {
  include?: string[]
  exclude?: string[]
}

export interface Rules {
  description?: string
  view?: string
  tools: Names
  actions: Names
  notebooks?: Record<string, string>
}

class Clients {
  list: Client[] | null = $state.raw(null)
  tokens: Token[] = $state.raw([])
  profiles: Profile[] = $state.raw([])
}

export const clients = new Clients()

export async function loadClients(): Promise<void> {
  const [found, tokens, profiles] = await Promise.all([
    call<{ clients: Client[] }>('GET', '/clients'), call<{ tokens: Token[] }>('GET', '/tokens'), call<{ profiles: Profile[] }>('GET', '/profiles'),
  ])
  clients.list = found.clients
  clients.tokens = tokens.tokens
  clients.profiles = profiles.profiles
}

const path = (name: string) => `/clients/${encodeURIComponent(name)}`

/** preview returns what would be written. */
export function preview(name: string, wanted: Wanted): Promise<Change> {
  return call('POST', path(name), { ...wanted, dryRun: true })
}

/** connect writes Collie into the client's file. */
export async function connect(name: string, wanted: Wanted): Promise<Change> {
  try {
    return await call('POST', path(name), wanted)
  } finally {
    void attempt(loadClients)
  }
}

export async function disconnect(name: string): Promise<void> {
  await call('DELETE', path(name))
  await loadClients()
}

/** addToken makes a token and returns its secret; typed is its name, for one that chats or approves. */
export async function addToken(name: string, profile: string, scopes: string[], typed: string): Promise<string> {
  const got = await call<{ token: string }>('POST', '/tokens', { name, scopes, ...(profile && { profile }), ...(typed && { typed }) })
  await loadClients()
  return got.token
}

/** saveProfile writes a profile; typed is its name, where clients may see or do more with it than before. */
export async function saveProfile(name: string, rules: Rules, typed: string): Promise<void> {
  await call('PUT', `/profiles/${encodeURIComponent(name)}`, { ...rules, ...(typed && { typed }) })
  await loadClients()
}

export async function removeProfile(name: string, typed: string): Promise<void> {
  await call('DELETE', `/profiles/${encodeURIComponent(name)}?typed=${encodeURIComponent(typed)}`)
  await loadClients()
}

/** renew gives a token a new secret, and returns it with the clients that have the old one. */
export async function renew(name: string): Promise<{ token: string; clients: string[] }> {
  const got = await call<{ token: string; clients: string[] }>('POST', `/tokens/${encodeURIComponent(name)}/rotate`, {})
  await loadClients()
  return got
}

export async function revoke(name: string): Promise<void> {
  await call('DELETE', `/tokens/${encodeURIComponent(name)}`)
  await loadClients()
}

whenConnected(loadClients)
