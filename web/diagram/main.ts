// Draws diagrams, in a frame that has no origin: whatever a text makes of it, it reaches neither the page around it nor the
// gateway, and its policy lets it load nothing. The page sends {code, dark} and gets {height} or {problem}.

import mermaid from 'mermaid'

const longest = 20_000 // letters of a diagram
const root = document.getElementById('diagram')!
let drawn = 0
let last = 0

const tell = (what: Record<string, unknown>) => parent.postMessage(what, '*') // a frame without an origin cannot name the page's

/** still takes away what a click could follow, and what would be loaded if the policy let it. */
function still(svg: string): DocumentFragment {
  const made = document.createRange().createContextualFragment(svg)
  for (const one of made.querySelectorAll('*')) {
    for (const name of ['href', 'xlink:href', 'src', 'target']) {
      const value = one.getAttribute(name)
      if (value !== null && !value.startsWith('#')) one.removeAttribute(name)
    }
  }
  return made
}

async function draw(code: string, dark: boolean): Promise<void> {
  const mine = ++drawn
  try {
    if (code.length > longest) throw new Error(`more than ${longest} letters`)
    document.documentElement.style.colorScheme = dark ? 'dark' : 'light'
    mermaid.initialize({ startOnLoad: false, securityLevel: 'strict', theme: dark ? 'dark' : 'default', maxTextSize: longest, maxEdges: 300, suppressErrorRendering: true })
    const { svg } = await mermaid.render(`diagram-${mine}`, code)
    if (mine !== drawn) return
    root.replaceChildren(still(svg))
    measure()
  } catch (e) {
    if (mine === drawn) tell({ problem: String((e as Error)?.message ?? e).slice(0, 300) })
  }
}

function measure(): void {
  const height = Math.ceil(root.getBoundingClientRect().height)
  if (root.firstChild && height !== last && height > 0) tell({ height: (last = height) })
}

new ResizeObserver(measure).observe(root)
addEventListener('message', (e) => {
  if (e.source === parent) void draw(String(e.data?.code ?? ''), e.data?.dark === true)
})
tell({ ready: true })
