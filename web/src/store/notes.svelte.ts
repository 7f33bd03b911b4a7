// The notes as tools see them: what lies below a path, a document, and what is found. A notebook that is hidden from tools is
// hidden here too.

import { Failure, useTool } from '../services/api'
import { on, problemOf, soon, whenConnected } from './gateway.svelte'
import type { Problem } from './types'

export interface Entry {
  name: string
  path: string
  children?: number
  virtual?: boolean
  closed?: boolean
}

export interface Hit {
  id: string
  type: string
  fsPath: string
  plainContent: string
}

interface Window {
  path: string
  content: string
  nextWindow?: Record<string, unknown>
  warning?: string
}

class Notes {
  /** below are the entries right below a path, where they were asked for. */
  below: Record<string, Entry[]> = $state({})
  open: string[] = $state([])
  /** path of the document that is shown; empty where none is. */
  path = $state('')
  windows: Window[] | null = $state.raw(null)
  /** problem is why there is no document, or no notes. */
  problem: Problem | null = $state.raw(null)
  words = $state('')
  hits: Hit[] | null = $state.raw(null)
  total = $state(0)
  more = $state(false)
  page = 1
}

export const notes = new Notes()

const root = '/'
const mostOpen = 5 // notebooks that are open at first

let begun = false // they were opened

async function list(path: string): Promise<void> {
  notes.below[path] = (await useTool<{ items: Entry[] }>('fs', { action: 'ls', path })).items
}

/** failing runs f; what tools refuse is shown in the page, the rest is thrown. */
async function failing(f: () => Promise<unknown>): Promise<void> {
  try {
    await f()
    notes.problem = null
  } catch (e) {
    if (!(e instanceof Failure) || e.status === 0 || e.status === 401) throw e
    notes.problem = problemOf(e)
  }
}

/** loadNotes asks anew for all that is shown. */
export async function loadNotes(): Promise<void> {
  await failing(() => Promise.all([root, ...notes.open].map(list)))
  if (!begun && notes.below[root]) {
    begun = true
    for (const e of notes.below[root].filter((e) => !e.virtual && !e.closed).slice(0, mostOpen)) if (!notes.open.includes(e.path)) await toggle(e.path)
  }
  if (notes.path) await readAgain()
}

/** toggle shows what lies below a path, or hides it. */
export async function toggle(path: string): Promise<void> {
  if (notes.open.includes(path)) notes.open = notes.open.filter((one) => one !== path)
  else {
    notes.open = [...notes.open, path]
    await failing(() => list(path))
  }
}

const read = (args: Record<string, unknown>) => useTool<Window>('fs', { ...args, action: 'read' })
const whole = { tokenBudget: 20000, blockLimit: 200 }

/** show reads a document and opens the way to it. */
export async function show(path: string): Promise<void> {
  notes.path = path
  notes.windows = null
  notes.problem = null
  if (!path) return
  await failing(async () => {
    const first = await read({ path, ...whole })
    if (notes.path === path) notes.windows = [first]
  })
  for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) if (!notes.open.includes(path.slice(0, at))) await toggle(path.slice(0, at))
}

/** readOn reads what follows. */
export async function readOn(): Promise<void> {
  const path = notes.path
  const next = notes.windows?.at(-1)?.nextWindow
  if (!next) return
  await failing(async () => {
    const window = await read({ ...next, ...whole, path })
    if (notes.path === path) notes.windows = [...notes.windows!, window]
  })
}

async function readAgain(): Promise<void> {
  const path = notes.path
  await failing(async () => {
    const first = await read({ path, ...whole })
    if (notes.path === path && first.content !== notes.windows?.[0]?.content) notes.windows = [first]
  })
}

let fileHits = 0

/** inFiles finds words in the texts for models, which are not documents and so not in the index. */
async function inFiles(words: string): Promise<Hit[]> {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean)
  const files = (notes.below[root] ?? []).filter((e) => e.virtual)
  const found = await Promise.all(files.map(async (e) => ({ path: e.path, text: (await read({ path: e.path, ...whole })).content })))
  return found.flatMap(({ path, text }) => {
    const all = `${path}\n${text}`.toLowerCase()
    if (!wanted.every((w) => all.includes(w))) return []
    const from = Math.max(0, text.toLowerCase().indexOf(wanted[0]!) - 60)
    return [{ id: path, type: 'file', fsPath: path, plainContent: text.slice(from) }]
  })
}

/** find searches for words; further asks for the next page of the same. */
export async function find(words: string, further = false): Promise<void> {
  notes.words = words
  if (!words.trim()) {
    notes.hits = null
    return
  }
  const page = further ? notes.page + 1 : 1
  await failing(async () => {
    const [got, files] = await Promise.all([
      useTool<{ data: Hit[]; total: number; hasNextPage?: boolean }>('search', { action: 'fulltext', query: words, page }), further ? [] : inFiles(words),
    ])
    if (notes.words !== words) return
    notes.hits = further ? [...(notes.hits ?? []), ...got.data] : [...files, ...got.data]
    if (!further) fileHits = files.length
    notes.total = got.total + fileHits
    notes.more = got.hasNextPage === true
    notes.page = page
  })
}

let shown = 0

/** follow keeps what is shown up to date until the function that it returns is called. */
export function follow(): () => void {
  shown++
  const end = whenConnected(loadNotes)
  return () => {
    shown--
    end()
  }
}

on('call.done', ({ data }) => {
  if (shown > 0 && data.class !== 'read') soon(loadNotes)
})
