// What the file of the puppy says. Collie and other programs write it: one object, or a list whose last entry counts.

import type { Doing } from '../src/store/puppy.svelte'

export interface PuppyEvent {
  /** seq rises with each event. */
  seq: number
  tool: string
  action: string
  status: 'running' | 'success' | 'error'
  /** class is what the action does: read, write, move or remove. Collie alone writes it. */
  class?: string
  /** dangerous: a person is asked before it runs. */
  dangerous?: boolean
}

const statuses = ['running', 'success', 'error']

/** readEvent returns the event that the content of the file holds; null where it holds none. */
export function readEvent(content: unknown): PuppyEvent | null {
  const one = Array.isArray(content) ? content.at(-1) : content
  if (!one || typeof one !== 'object') return null
  const { seq, tool, action, status, class: kind, dangerous } = one as Record<string, unknown>
  if (typeof seq !== 'number' || typeof tool !== 'string' || typeof action !== 'string' || !statuses.includes(status as string)) return null
  return { seq, tool, action, status: status as PuppyEvent['status'], dangerous: dangerous === true, ...(typeof kind === 'string' && { class: kind }) }
}

const byClass: Record<string, Doing> = { read: 'reading', write: 'writing', remove: 'deleting', move: 'moving' }
const byName: [RegExp, Doing][] = [
  [/(^|_)(rm|remove|delete|clear)(_|$)/, 'deleting'], [/(^|_)(mv|move|rename)(_|$)/, 'moving'],
  [/(^|_)(write|create|add|append|prepend|insert|update|set|edit|replace|put|upload|import|fold|unfold|duplicate|transfer)(_|$)/, 'writing'],
]

/** doingOf returns what the puppy shows of an event. Where the event has no class, the name of the action tells. */
export function doingOf(e: PuppyEvent): Doing {
  if (e.status !== 'running') return e.status
  if (e.dangerous) return 'dangerous'
  return byClass[e.class ?? ''] ?? byName.find(([name]) => name.test(e.action))?.[1] ?? 'reading'
}
