// Conversations that are being answered. What would replace what the person sees waits until they are done; of several
// refreshes of one kind one is left then.

import { soon } from './gateway.svelte'

/** activeSessions are the turns that this page has sent or heard of, by session, until it hears how they ended. */
export const activeSessions = new Map<string, Map<string, number>>()

const leak = 10 * 60_000 // milliseconds without a word of a turn, after which it is not waited for any longer
const kept = new Map<string, () => Promise<unknown>>()

/** processingSessions are the sessions of which a turn runs. */
export const processingSessions = () => [...activeSessions.keys()]

/** markActive says that a turn of a session begins, or that something was heard of it. */
export function markActive(session: string, turn: string): void {
  const turns = activeSessions.get(session) ?? new Map<string, number>()
  activeSessions.set(session, turns.set(turn, Date.now()))
}

/** markInactive says that a turn has ended, or was never begun. With the last one, what was kept is run. */
export function markInactive(session: string, turn: string): void {
  const turns = activeSessions.get(session)
  turns?.delete(turn)
  if (turns?.size === 0) activeSessions.delete(session)
  if (!shouldSkipRefresh()) release()
}

/** onlyActive says which turns of a session run, as the gateway has it. */
export function onlyActive(session: string, turns: Set<string>): void {
  for (const turn of turns) markActive(session, turn)
  for (const turn of [...(activeSessions.get(session)?.keys() ?? [])]) if (!turns.has(turn)) markInactive(session, turn)
}

/** forgetActive waits for no turn any longer: what became of them was not heard. */
export function forgetActive(): void {
  activeSessions.clear()
  release()
}

/** shouldSkipRefresh reports whether what is shown must not be replaced now. */
export function shouldSkipRefresh(): boolean {
  for (const [session, turns] of activeSessions) {
    for (const [turn, heard] of turns) {
      if (Date.now() - heard <= leak) return true
      turns.delete(turn)
      console.warn(`nothing was heard of the turn ${turn} for ten minutes`)
    }
    activeSessions.delete(session)
  }
  return false
}

/** refresh runs f in a moment, or once no answer is being written. Of a kind the last one counts. */
export function refresh(kind: string, f: () => Promise<unknown>): void {
  if (shouldSkipRefresh()) kept.set(kind, f)
  else soon(f)
}

/** release runs what was kept. */
export function release(): void {
  for (const f of kept.values()) soon(f)
  kept.clear()
}
