// What keys do, wherever the person is. All have a key that is held, so that nothing that is typed is taken for one.

import type { Text } from './locale.svelte'

export type Shortcut = 'palette' | 'new' | 'message' | 'before' | 'after' | 'close' | 'stop'

export const shortcuts: { keys: string; does: Shortcut; about: Text }[] = [
  { keys: 'Ctrl+K', does: 'palette', about: 'Go to …' },
  { keys: 'Alt+N', does: 'new', about: 'New chat' },
  { keys: 'Alt+M', does: 'message', about: 'Write a message' },
  { keys: 'Alt+↑', does: 'before', about: 'Conversation above' },
  { keys: 'Alt+↓', does: 'after', about: 'Conversation below' },
  { keys: 'Alt+W', does: 'close', about: 'Close the tab' },
  { keys: 'Ctrl+.', does: 'stop', about: 'Stop the answer' },
]

/** shortcutOf returns what the keys of an event do. On Macs the command key counts as Ctrl. */
export function shortcutOf(e: KeyboardEvent): Shortcut | undefined {
  if (e.isComposing || e.shiftKey) return undefined
  const key = ({ KeyK: 'K', KeyN: 'N', KeyM: 'M', KeyW: 'W', ArrowUp: '↑', ArrowDown: '↓', Period: '.' } as Record<string, string>)[e.code]
  const held = (e.ctrlKey || e.metaKey) && !e.altKey ? 'Ctrl' : e.altKey && !e.ctrlKey && !e.metaKey ? 'Alt' : ''
  return key && held ? shortcuts.find((s) => s.keys === `${held}+${key}`)?.does : undefined
}
