// Which key sends a message. It is a habit of the person, kept by this browser.

export type Sending = 'enter' | 'ctrl'

const stored = 'collie.sending'
const state = $state({ by: (localStorage.getItem(stored) === 'ctrl' ? 'ctrl' : 'enter') as Sending })

export function sending(): Sending {
  return state.by
}

export function sendBy(by: Sending): void {
  state.by = by
  localStorage.setItem(stored, by)
}
