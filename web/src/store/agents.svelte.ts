// The files that a person writes for agents: agents, skills and context entries.

import { call } from '../services/api'
import { whenConnected } from './gateway.svelte'

export type Kind = 'agents' | 'context' | 'skills'

/** Item is a file of one of the kinds; entries have keywords and no description. */
export interface Item {
  name: string
  description?: string
  keywords?: string[]
  file?: string
  project?: boolean
}

export interface Wrong {
  file: string
  line?: number
  field?: string
  message: string
}

export interface Match {
  name: string
  keyword: string
}

class Agents {
  list: Record<Kind, Item[]> | null = $state.raw(null)
  problems: Wrong[] = $state.raw([])
}

export const agents = new Agents()

const at = (kind: Kind, name: string) => `/agents/${kind}/${encodeURIComponent(name)}`

export async function loadAgents(): Promise<void> {
  const got = await call<Record<Kind, Item[]> & { problems: Wrong[] }>('GET', '/agents')
  agents.list = { agents: got.agents, context: got.context, skills: got.skills }
  agents.problems = got.problems
}

/** source returns the text of a file. */
export async function source(kind: Kind, name: string): Promise<string> {
  return (await call<{ text: string }>('GET', at(kind, name))).text
}

/** put writes a file. One that could not be used is refused with its line and field, and nothing changes. */
export async function put(kind: Kind, name: string, text: string): Promise<void> {
  await call('PUT', at(kind, name), { text })
  await loadAgents()
}

export async function remove(kind: Kind, name: string): Promise<void> {
  try {
    await call('DELETE', at(kind, name))
  } finally {
    await loadAgents()
  }
}

/** matches returns which context entries a text would bring in, for an agent or for turns without one. */
export async function matches(text: string, agent: string): Promise<Match[]> {
  return (await call<{ matches: Match[] }>('POST', '/agents/matches', { text, agent })).matches
}

whenConnected(loadAgents)
