import { around } from './frame'

export type Theme = 'system' | 'light' | 'dark'

const stored = 'collie.theme'
const surrounding = around<Theme>('theme', ['light', 'dark']) // of SiYuan's window, where this page is its panel

/** first returns the theme of the window around the page, or the one that was chosen here before. */
function first(): Theme {
  if (surrounding) return surrounding
  const chosen = localStorage.getItem(stored)
  return chosen === 'light' || chosen === 'dark' ? chosen : 'system'
}

const state = $state({ theme: first() })

export function theme(): Theme {
  return state.theme
}

/** wear shows the page in a theme, and keeps it as the person's choice unless the window around the page decides. */
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
