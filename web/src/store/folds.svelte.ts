// Which cards of a conversation the person has opened or closed. It lies in this browser alone.

import { recall, remember } from '../services/drafts'

const state = $state({ session: '', open: {} as Record<string, boolean> })

/** loadFolds takes up how a conversation was left. */
export async function loadFolds(session: string): Promise<void> {
  state.session = session
  state.open = {}
  const kept = session ? await recall<Record<string, boolean>>('folds', session) : undefined
  if (state.session === session) state.open = { ...kept, ...state.open }
}

/** isOpen reports whether a card is open; usually says so where the person has not. */
export const isOpen = (card: string, usually: boolean): boolean => state.open[card] ?? usually

/** fold keeps whether a card is open. */
export function fold(card: string, open: boolean, usually: boolean): void {
  if (isOpen(card, usually) === open) return
  state.open[card] = open
  if (state.session) void remember('folds', state.session, $state.snapshot(state.open))
}
