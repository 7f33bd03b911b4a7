// All tools, with their risk, and what is switched on and off.

import { call } from '../services/api'
import { on, soon, whenConnected } from './gateway.svelte'

export interface Cost {
  bytes: number
  tokens: number
}

export interface Action {
  name: string
  description: string
  risk: string
  effects: string[]
  /** dangerous: a person confirms each call. */
  dangerous: boolean
  off?: string
  unsupported?: boolean
  /** type is what has to be typed to switch it on. */
  type?: string
  cost: Cost
  /** alias is what clients see in place of its name. */
  alias?: string
  /** authored is what the server says of it, where a person has written another description. */
  authored?: string
  editable: boolean
}

/** isGrave: a person is asked before it, or should be. */
export const isGrave = (a: Action): boolean => a.dangerous || a.risk === 'high' || a.risk === 'critical'

export interface Tool {
  name: string
  title: string
  off?: string
  view: string
  why: string
  actions: Action[]
}

export interface Board {
  tools: Tool[]
  list: Cost
  flat: Cost
  grouped: Cost
  search: Cost
}

class Tools {
  board: Board | null = $state.raw(null)
}

export const tools = new Tools()

export async function loadTools(): Promise<void> {
  tools.board = await call<Board>('GET', '/tools/switches')
}

/** turn switches a tool, or one action of it, on or off. */
export async function turn(tool: string, action: string, to: boolean, typed = ''): Promise<void> {
  try {
    await call('POST', '/tools/switches', { tool, on: to, ...(action && { action }), ...(typed && { typed }) })
  } finally {
    await loadTools()
  }
}

/** describe sets the name and the description that clients see; empty ones are the server's own. */
export async function describe(tool: string, action: string, alias: string, description: string): Promise<void> {
  await call('PUT', '/tools/words', { tool, action, alias, description })
  await loadTools()
}

for (const kind of ['catalog', 'server.state']) on(kind, () => soon(loadTools))
whenConnected(loadTools)
