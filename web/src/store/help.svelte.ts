// The guides and the reference, as they were when the pages were built, and what is found in them. No request is made for a search. A model can be asked about them.

import { call } from '../services/api'
import type { Language } from '../services/locale.svelte'
import { attach, begin, say } from './chat.svelte'

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
  const own = text.replace(/^\[(English|中文)\]\([^)]*\)( · )?/m, '') // the page has a language of its own
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

const little = new Set(
  'a an and are as at be but by can could did do does for from get has have how i if in is it its me my not of on or our should so that the their them then there this to up was we what when where which who why will with would you your'.split(' '),
)

/** searched are the words that are looked for: without those that stand in every text, unless there are no others. */
export function searched(words: string): string[] {
  const all = words.toLowerCase().split(/[\s?!,;]+/).filter(Boolean)
  const some = all.filter((w) => !little.has(w))
  return some.length ? some : all
}

/** spoken is Markdown as a reader hears it: without the signs of headings, tables, links, code and emphasis. */
function spoken(markdown: string): string {
  return markdown
    .replace(/^#+ .*\n?/, '').replace(/^(\[[^\]]*\]\([^)]*\)( · )?)+$/gm, '').replace(/^ {0,3}(```|~~~).*$/gm, '').replace(/^[ |:-]+$/gm, '').replace(/^#+ +/gm, '')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/\*\*|`/g, '').replace(/^\s*[|>] ?|\s*\|\s*$/gm, '').replace(/ \| /g, ' · ').replace(/\s+/g, ' ').trim()
}

/** find returns the sections in which all words occur, those with a word in their heading first. */
export function find(docs: Doc[], words: string): Hit[] {
  const wanted = searched(words)
  if (!wanted.length) return []
  const first: Hit[] = []
  const rest: Hit[] = []
  for (const doc of docs)
    doc.sections.forEach((s, section) => {
      const text = s.text.toLowerCase()
      if (!wanted.every((w) => text.includes(w))) return
      const said = spoken(s.text)
      const from = Math.max(0, closest(said.toLowerCase(), wanted) - 60)
      const hit = { doc, section, excerpt: (from ? '… ' : '') + (said && said.slice(from, from + 200) + ' …') }
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

const mostAttached = 14_000 // letters of guides that go with a question

/** words are what a question is looked up by: words of three letters or more, and pairs of Chinese characters. */
function words(question: string): string[] {
  const all = question.toLowerCase().match(/\p{Script=Han}+|[\p{L}\p{N}_.-]{3,}/gu) ?? []
  const pairs = all.flatMap((w) => (/\p{Script=Han}/u.test(w) && w.length > 2 ? [...w].slice(1).map((c, i) => [...w][i]! + c) : [w]))
  return [...new Set(pairs)]
}

/** relevant returns the sections that a question is about, the best first: those with many of its words, of which the rare count more. */
export function relevant(docs: Doc[], question: string): { doc: Doc; section: Section }[] {
  const all = docs.flatMap((doc) => doc.sections.map((section) => ({ doc, section, text: section.text.toLowerCase(), head: `${doc.title} ${section.heading}`.toLowerCase() })))
  const weights = words(question).map((word) => ({ word, weight: Math.log(1 + all.length / (1 + all.filter((s) => s.text.includes(word)).length)) }))
  const score = (s: (typeof all)[number]) => weights.reduce((sum, w) => sum + (s.head.includes(w.word) ? 2 * w.weight : s.text.includes(w.word) ? w.weight : 0), 0)
  return all.map((s) => ({ ...s, score: score(s) })).filter((s) => s.score > 0).sort((a, b) => b.score - a.score)
}

const instructions = `You are Collie, the helper of the program Collie. Answer the person's question from the guides that are attached, in the language of the question, briefly
and with the commands or pages that they name. Say in which guide and section it stands. If the guides do not say it, say so and do not guess.`

/** askGuides begins a conversation with a question, which a model without tools answers from the guides. */
export async function askGuides(question: string): Promise<void> {
  let text = ''
  for (const { doc, section } of relevant(help.docs ?? [], question)) {
    const one = `# ${doc.title}${section.heading && section.heading !== doc.title ? `: ${section.heading}` : ''}\n\n${section.text.slice(0, mostAttached / 2)}\n\n`
    if (text.length + one.length > mostAttached) break
    text += one
  }
  const session = await begin({ engine: 'chat', systemPrompt: instructions })
  const guides = await attach(session, new File([text || 'Nothing in the guides has the words of this question.'], 'guides.md', { type: 'text/markdown' }))
  await say({ session, parentId: '', turn: crypto.randomUUID(), text: question, files: [guides], steer: false })
}

/** canAsk reports whether there is a provider whose models can answer. */
export async function canAsk(): Promise<boolean> {
  return ((await call<{ providers: unknown[] | null }>('GET', '/providers')).providers ?? []).length > 0
}
