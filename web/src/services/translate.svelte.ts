// What the gateway says, such as errors and notices, is English. In another language the page has it translated by the
// gateway, which knows these texts; all that one frame shows in one request. Until the answer is there, the text is
// shown as it is.

import { SvelteMap } from 'svelte/reactivity'
import { call } from './api'
import { language } from './locale.svelte'

const most = 500 // texts in one request
const known = new SvelteMap<string, string>()
let wanted = new Set<string>()

/** translate returns a text of the gateway in the language of the person. */
export function translate(text: string | undefined): string {
  if (!text || language() === 'en') return text ?? ''
  const there = known.get(text)
  if (there === undefined && !wanted.has(text)) {
    if (wanted.size === 0) setTimeout(() => void fetchWanted(), 0)
    wanted.add(text)
  }
  return there ?? text
}

/** problemText is what was wrong, and what to try. */
export function problemText(p: { message?: string; hint?: string }): string {
  return [translate(p.message), translate(p.hint)].filter(Boolean).join(' – ')
}

async function fetchWanted(): Promise<void> {
  const all = [...wanted]
  wanted = new Set()
  for (let i = 0; i < all.length; i += most) {
    const texts = all.slice(i, i + most)
    // Without an answer the texts stay English, and are not asked for again.
    const answer = await call<{ texts: string[] }>('POST', '/translations', { language: language(), texts }).catch(() => ({ texts }))
    texts.forEach((text, j) => known.set(text, answer.texts[j] ?? text))
  }
}
