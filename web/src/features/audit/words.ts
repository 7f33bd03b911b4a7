import type { Text } from '../../texts/audit'

/** kinds are the kinds of records that a person chooses from. */
export const kinds: [string, Text][] = [
  ['', 'all but chains'], ['call', 'calls'], ['change', 'changes'], ['decision', 'questions and answers'], ['grant', 'leave given'], ['read', 'resources read'],
  ['prompt', 'prompts'], ['complete', 'completions'], ['request', 'other requests'], ['export', 'exports'], ['prune', 'removals'], ['chain', 'chains'],
]

/** single is what one record is, where the word of its kind is for many. */
export function single(kind: string, detail: unknown): Text | undefined {
  const of = (detail ?? {}) as { verdict?: string; given?: unknown }
  if (kind === 'change') return 'change'
  if (kind === 'decision') return of.verdict === 'allow' ? 'allowed' : of.verdict === 'deny' ? 'refused' : undefined
  if (kind === 'grant') return of.given ? 'leave given' : 'leave taken back'
  return undefined
}

export const outcomes: [string, Text][] = [['', 'any'], ['ok', 'ok'], ['error', 'failed'], ['refused', 'refused'], ['cancelled', 'cancelled'], ['unknown', 'not known']]

export const origins: [string, Text][] = [
  ['', 'any'], ['direct', 'a person'], ['chat', 'a conversation'], ['cli-agent', 'the agent of another program'], ['mcp-local', 'a client on this machine'],
  ['mcp-remote', 'a client over the network'], ['scheduled', 'a schedule'],
]

export const spans: [string, Text][] = [
  ['', 'all times'], ['1', 'last hour'], ['24', 'last 24 hours'], ['168', 'last 7 days'], ['720', 'last 30 days'], ['between', 'between …'],
]

/** means says what an outcome is. */
export const means: Record<string, Text> = { refused: 'refused before it ran', error: 'it ran, and failed' }

/** programs are our own, by the client that stands in a record. */
export const programs: [string, Text][] = [
  ['collie pages', 'in these pages'], ['collie', 'in the terminal'], ['collie call', 'in the terminal'], ['collie siyuan undo', 'in the terminal'], ['collie chat', 'in the terminal'],
]

/** wordFor returns the text for a value of a list, or the value itself. */
export function wordFor(list: [string, Text][], value: string): Text | undefined {
  return list.find(([v]) => v === value)?.[1]
}
