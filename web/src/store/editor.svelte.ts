// Which servers there are: adding, taking over, removing, and signing in to them.

import { call } from '../services/api'
import { loadServers } from './servers.svelte'

export interface NewServers {
  json: string
  name?: string
  dryRun?: boolean
  typed?: string
  /** secrets are stored first, by the names that the text refers to. */
  secrets?: Record<string, string>
}

/** Found is a server that a registry knows. */
export interface Found {
  name: string
  version: string
  title?: string
  description?: string
  ways: string[]
  status?: string
}

/** Offer is how a server of a registry would be added. */
export interface Offer {
  pinned: string
  name: string
  description?: string
  repository?: string
  status?: string
  kind: string
  kinds: string[]
  package: string
  inputs: { key: string; description?: string; default?: string; choices?: string[]; required?: boolean; secret?: boolean }[]
}

/** Added is what was added, or would be. */
export interface Added {
  servers: { name: string; transport: string; entry: unknown }[]
  file: string
  /** type is what a person has to type, because commands are run. */
  type?: string
  warnings: string[]
}

/** ShownEntry is the entry of a server, with *** in place of each secret. */
export interface ShownEntry {
  name: string
  file: string
  entry: Record<string, unknown>
  revision: string
}

/** Host is another program that has servers. */
export interface Host {
  name: string
  title: string
  servers: number
}

export interface Imported {
  servers: { name: string; from: string; state: string; why?: string; transport: string; entry?: unknown; secrets?: string[]; differences: string[] | null; file: string }[]
  added: string[]
  file: string
  type?: string
}

export interface SigningIn {
  state: 'waiting' | 'done' | 'failed' | 'none'
  address?: string
  problem?: string
}

const path = (name: string, more = '') => `/mcp/servers/${encodeURIComponent(name)}${more}`

export async function add(n: NewServers): Promise<Added> {
  const added = await call<Added>('POST', '/mcp/servers', n)
  if (!n.dryRun) await loadServers()
  return added
}

/** search asks the registry, which nothing else does. */
export const search = (words: string, cursor: string) => call<{ servers: Found[] | null; next?: string }>('GET', `/mcp/registry?${new URLSearchParams({ words, cursor })}`)
export const offer = (name: string, kind = '') => call<Offer>('GET', `/mcp/registry/server?${new URLSearchParams({ name, kind })}`)

/** entryOf returns the entry of a server of the registry, with the names under which inputs are to be stored as secrets. */
export const entryOf = (pinned: string, kind: string, name: string, inputs: Record<string, string>) =>
  call<{ name: string; entry: unknown; secrets: Record<string, string> }>('POST', '/mcp/registry/entry', { pinned, kind, name, inputs })

export async function hosts(): Promise<Host[]> {
  return (await call<{ hosts: Host[] }>('GET', '/mcp/hosts')).hosts
}

export async function takeOver(n: { from: string; select?: string[]; dryRun?: boolean; typed?: string }): Promise<Imported> {
  const taken = await call<Imported>('POST', '/mcp/import', n)
  if (!n.dryRun) await loadServers()
  return taken
}

export async function remove(name: string): Promise<void> {
  await call('DELETE', path(name))
  await loadServers()
}

export async function turn(name: string, on: boolean): Promise<void> {
  await call('POST', path(name, on ? '/enable' : '/disable'), {})
  await loadServers()
}

export const signIn = (name: string) => call<SigningIn>('POST', path(name, '/signin'), {})
export const signing = (name: string) => call<SigningIn>('GET', path(name, '/signin'))
export const signInAnswer = (name: string, address: string) => call('POST', path(name, '/signin/answer'), { address })
export const signOut = (name: string) => call<{ revoked: boolean }>('DELETE', path(name, '/signin'))

export const shownEntry = (name: string) => call<ShownEntry>('GET', path(name, '/entry'))

/** change changes the entry of a server, or says what that would need. */
export async function change(name: string, n: { entry: unknown; revision: string; dryRun: boolean; typed?: string }): Promise<Added> {
  const changed = await call<Added>('PUT', path(name, '/entry'), n)
  if (!n.dryRun) await loadServers()
  return changed
}
