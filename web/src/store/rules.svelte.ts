// What models are told of the notes beside the notes: the rules that a person has given them, and their own memory.

import { call, Failure } from '../services/api'

export type Told = 'rules' | 'memory'

class Rules {
  /** text is null where there are no notes. */
  text: Record<Told, string | null> = $state({ rules: null, memory: null })
}

export const rules = new Rules()

export async function loadRules(kind: Told): Promise<void> {
  try {
    rules.text[kind] = (await call<{ text: string }>('GET', `/notes/${kind}`)).text
  } catch (e) {
    if (!(e instanceof Failure) || e.status === 0 || e.status === 401) throw e
    rules.text[kind] = null
  }
}

export async function saveRules(kind: Told, text: string): Promise<void> {
  await call('PUT', `/notes/${kind}`, { text })
  await loadRules(kind)
}
