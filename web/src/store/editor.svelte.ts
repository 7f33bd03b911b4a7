// Which servers there are: adding, taking over, removing, and signing in to them.

import { call } from '../services/api'
import { loadServers } from './servers.svelte'

export interface NewServers {
  json: string
  name?: string
  dryRun?: boolean
  typed?: string
}

/** Added is what was added, or would be. */
export interface Added {
  servers: { name: string; transport: string; entry: unknown }[]
  file: string
  /** type is what a person has to type, because commands are run. */
  type?: string
  warnings: string[]
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
