// A form that a button opens takes the keyboard, and gives it back when it is closed.

/** shown focuses an element when it appears. When it goes, the element that had the focus before, or its successor, has it again. */
export function shown(element: HTMLElement): () => void {
  const before = document.activeElement as HTMLElement | null
  const parent = element.closest('form')?.parentElement
  element.focus()
  return () => {
    requestAnimationFrame(() => {
      if (document.activeElement !== document.body && document.activeElement?.tagName !== 'MAIN') return
      if (before?.isConnected) before.focus()
      else parent?.querySelector<HTMLElement>('button:not(:disabled)')?.focus()
    })
  }
}
