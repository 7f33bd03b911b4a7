// The MCP servers, and what can be done with them.

import { call, stream } from '../services/api'
import { attempt, on, soon, whenConnected } from './gateway.svelte'

/** Server is the state of one server. */
export interface Server {
  name: string
  state: string
  reason?: string
  detail?: string
  hint?: string
  transport: string
  command?: string
  protocolVersion?: string
  server?: string
  pid?: number
  tools: number
  resources: number
  prompts: number
  nextRetryAt?: string
  validatedAt?: string
  memory?: number
  changedTools?: string[]
  starts?: number
  restarts?: number
}

/** Change is a tool definition that is not what it was. */
export interface Change {
  changed: string[]
  hash: string
  was?: Record<string, unknown>
  now: Record<string, unknown>
}

export interface LogLine {
  time: string
  stream: string
  text: string
}

export type Operation = 'start' | 'stop' | 'restart' | 'refresh'

class Servers {
  list: Server[] | null = $state(null)
  /** What is wrong with the settings, so that older ones are in effect. */
  wrong = $state('')
  /** busy are the servers with which something is being done. */
  busy: Record<string, boolean> = $state({})
}

export const servers = new Servers()

export async function loadServers(): Promise<void> {
  const got = await call<{ servers: Server[]; configError?: string }>('GET', '/mcp/servers')
  servers.list = got.servers
  servers.wrong = got.configError ?? ''
}

const path = (name: string) => `/mcp/servers/${encodeURIComponent(name)}`

/** operate does something with a server, and returns when that is done. */
export function operate(name: string, what: Operation): Promise<void> {
  return busily(name, () => call('POST', `${path(name)}/${what}`, {}))
}

/** approve accepts definitions as they were shown. If one of them has changed since, none is accepted. */
export function approve(name: string, shown: Record<string, Change>): Promise<void> {
  const hashes = Object.fromEntries(Object.entries(shown).map(([tool, change]) => [tool, change.hash]))
  return busily(name, () => call('POST', path(name) + '/approve', { hashes }))
}

async function busily(name: string, f: () => Promise<unknown>): Promise<void> {
  servers.busy[name] = true
  await attempt(f)
  servers.busy[name] = false
  await attempt(loadServers)
}

export async function changesOf(name: string): Promise<Record<string, Change>> {
  return (await call<{ changes: Record<string, Change> }>('GET', path(name) + '/changes')).changes
}

/** follow has take called with the last lines of a server's log, and with new ones until the signal comes. */
export async function follow(name: string, signal: AbortSignal, take: (line: LogLine) => void): Promise<void> {
  try {
    await stream(path(name) + '/logs?follow=1&lines=200', '', signal, (e) => e.kind || take(e.data))
  } catch (e) {
    if (!signal.aborted) throw e
  }
}

for (const kind of ['server.state', 'catalog']) on(kind, () => soon(loadServers))
whenConnected(loadServers)
