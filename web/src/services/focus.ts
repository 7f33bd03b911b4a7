// The keyboard is never nowhere: where what had the focus is taken out of the page, the page itself has it.

/** keepFocus gives the focus to what home returns when the element that has it goes, unless somebody else takes it. */
export function keepFocus(home: () => HTMLElement | undefined): () => void {
  let last: Element | null = null
  const took = (e: FocusEvent) => (last = e.target as Element)
  const observer = new MutationObserver(() => {
    if (!last || last.isConnected || document.activeElement !== document.body) return
    last = null
    home()?.focus({ preventScroll: true })
  })
  addEventListener('focusin', took)
  observer.observe(document.body, { childList: true, subtree: true })
  return () => {
    removeEventListener('focusin', took)
    observer.disconnect()
  }
}
