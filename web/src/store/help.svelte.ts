// The guides and the reference, as they were when the pages were built, and what is found in them. No request is made for a search.

import type { Language } from '../services/locale.svelte'

export interface Section {
  heading: string
  text: string
}

export interface Doc {
  /** name is the path below docs without ending and language: "guide/chat". */
  name: string
  title: string
  sections: Section[]
}

export interface Hit {
  doc: Doc
  /** section is the number of the section in the document. */
  section: number
  excerpt: string
}

const mostHits = 50

class Help {
  docs: Doc[] | null = $state.raw(null)
  words = $state('')
}

export const help = new Help()

/** loadHelp loads the guides in a language, and the reference. */
export async function loadHelp(language: Language): Promise<void> {
  const [guides, reference] = await Promise.all([language === 'zh' ? import('../docs/chinese') : import('../docs/english'), import('../docs/reference')])
  help.docs = [...Object.entries(guides.default), ...Object.entries(reference.default)].map(([path, text]) => docOf(path, text))
}

const nameOf = (path: string) => path.replace(/^.*\/docs\//, '').replace(/(\.zh-CN)?\.md$/, '')

function docOf(path: string, text: string): Doc {
  const name = nameOf(path)
  const sections = sectionsOf(inside(name, text))
  return { name, title: sections[0]?.heading || name, sections }
}

/** sectionsOf splits a text at its headings of the first two levels. */
function sectionsOf(text: string): Section[] {
  const all: Section[] = []
  let listing = false
  for (const line of text.split('\n')) {
    if (/^ {0,3}(```|~~~)/.test(line)) listing = !listing
    const heading = listing ? null : /^#{1,2} +(.*?) *#*$/.exec(line)
    if (heading) all.push({ heading: heading[1]!, text: line })
    else if (all.length) all.at(-1)!.text += '\n' + line
    else if (line.trim()) all.push({ heading: '', text: line })
  }
  return all
}

/** inside has links between documents lead to them in the page, and those to the rest of the repository nowhere. */
function inside(name: string, text: string): string {
  const own = text.replace(/^\[(English|中文)\]\([^)]*\)\n/m, '') // the page has a language of its own
  return own.replace(/\]\((?!https?:|mailto:)([^)\s#]*)(?:#([^)\s]*))?\)/g, (_, to: string, anchor = '') => {
    const path = to ? new URL(to.replace(/\/$/, '/README.md'), `http://docs/docs/${name}`).pathname : `/docs/${name}.md`
    if (!/^\/docs\/(guide|reference)\/.*\.md$/.test(path)) return ']()'
    return `](#/help/${encodeURIComponent(nameOf(path) + (anchor && ':' + decodeURIComponent(anchor)))})`
  })
}

/** sectionAt returns the number of a section: what it is called in an address, or its number; 0 where there is none. */
export function sectionAt(doc: Doc, name: string): number {
  if (/^\d+$/.test(name)) return Number(name)
  return Math.max(doc.sections.findIndex((s) => s.heading.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-') === name), 0)
}

/** find returns the sections in which all words occur, those with a word in their heading first. */
export function find(docs: Doc[], words: string): Hit[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean)
  if (!wanted.length) return []
  const first: Hit[] = []
  const rest: Hit[] = []
  for (const doc of docs)
    doc.sections.forEach((s, section) => {
      const text = s.text.toLowerCase()
      if (!wanted.every((w) => text.includes(w))) return
      const from = Math.max(0, closest(text, wanted) - 60)
      const hit = { doc, section, excerpt: (from ? '… ' : '') + s.text.slice(from, from + 200).replace(/\s+/g, ' ') + ' …' }
      ;(wanted.some((w) => s.heading.toLowerCase().includes(w)) ? first : rest).push(hit)
    })
  return [...first, ...rest].slice(0, mostHits)
}

/** closest returns where in a text, which has all of the words, the most of them stand within a line or two. */
function closest(text: string, words: string[]): number {
  let best = 0
  let most = 0
  for (const word of words)
    for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
      const near = text.slice(at, at + 130)
      const count = words.filter((w) => near.includes(w)).length
      if (count > most) [best, most] = [at, count]
    }
  return best
}
