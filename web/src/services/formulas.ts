// Formulas. What sets them is loaded with the first one.

/** Typeset puts the formula in the place of its text. */
export type Typeset = (element: HTMLElement) => void

const longest = 5000 // letters; longer ones stay text

export async function formulas(): Promise<Typeset> {
  const [{ default: katex }] = await Promise.all([import('katex'), import('katex/dist/katex.min.css')])
  return (element) => {
    const text = element.textContent ?? ''
    if (element.querySelector('.katex') || text.length > longest) return
    // Nothing is trusted: no links, pictures, classes or styles from the text, and macros end soon.
    katex.render(text, element, { displayMode: element.classList.contains('display'), throwOnError: false, strict: false, trust: false, maxSize: 20, maxExpand: 200 })
  }
}
