// The rules that a person has given models for the notes.

import { call, Failure } from '../services/api'

class Rules {
  /** text is null where there are no notes. */
  text: string | null = $state(null)
}

export const rules = new Rules()

export async function loadRules(): Promise<void> {
  try {
    rules.text = (await call<{ text: string }>('GET', '/notes/rules')).text
  } catch (e) {
    if (!(e instanceof Failure) || e.status === 0 || e.status === 401) throw e
    rules.text = null
  }
}

export async function saveRules(text: string): Promise<void> {
  await call('PUT', '/notes/rules', { text })
  await loadRules()
}
