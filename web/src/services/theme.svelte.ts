import { around } from './frame'

export type Theme = 'system' | 'light' | 'dark'

const stored = 'collie.theme'
const surrounding = around<Theme>('theme', ['light', 'dark'])

function first(): Theme {
  if (surrounding) return surrounding
  const chosen = localStorage.getItem(stored)
  return chosen === 'light' || chosen === 'dark' ? chosen : 'system'
}

const state = $state({ theme: first() })

export function theme(): Theme {
  return state.theme
}

export function wear(to: Theme): void {
  state.theme = to
  if (!surrounding) localStorage.setItem(stored, to)
  document.documentElement.dataset.theme = to
}

const system = matchMedia('(prefers-color-scheme: dark)')
const seen = $state({ dark: system.matches })
system.addEventListener('change', () => (seen.dark = system.matches))

/** dark reports whether the page is dark now. */
export function dark(): boolean {
  return state.theme === 'system' ? seen.dark : state.theme === 'dark'
}
