export type Theme = 'system' | 'light' | 'dark'

const stored = 'collie.theme'

function first(): Theme {
  const chosen = localStorage.getItem(stored)
  return chosen === 'light' || chosen === 'dark' ? chosen : 'system'
}

const state = $state({ theme: first() })

export function theme(): Theme {
  return state.theme
}

export function wear(to: Theme): void {
  state.theme = to
  localStorage.setItem(stored, to)
  document.documentElement.dataset.theme = to
}
