// What a message can bring along by name: prompts and resources of all servers, and documents and blocks of the notes.

import { call, Failure, useTool } from '../services/api'
import { attempt, on } from './gateway.svelte'

export interface Prompt {
  /** name is SERVER:PROMPT. */
  name: string
  title?: string
  description?: string
  arguments?: { name: string; title?: string; description?: string; required?: boolean }[]
}

export interface Resource {
  uri: string
  name?: string
  title?: string
}

/** Note is a document, or a block of one. */
export interface Note {
  id: string
  type: string
  fsPath: string
  plainContent: string
}

class Offered {
  prompts: Prompt[] = $state.raw([])
  resources: Resource[] = $state.raw([])
  notes: Note[] = $state.raw([])
  /** words are what notes were found by. */
  words = $state('')
}

export const offered = new Offered()

let known = false

/** loadOffered asks which prompts and resources there are, anew after the servers' lists have changed. */
export function loadOffered(): void {
  if (known) return
  known = true
  void attempt(async () => {
    const [prompts, resources] = await Promise.all([call<{ prompts: Prompt[] }>('GET', '/prompts'), call<{ resources?: Resource[] }>('GET', '/lists/resources')])
    offered.prompts = prompts.prompts
    offered.resources = resources.resources ?? []
  }).then((ok) => (known &&= ok))
}

on('catalog', () => (known = false))

const mostNotes = 6
let wanted = ''

/** findNotes looks for documents and blocks in which words occur. Where notes cannot be searched, none are found. */
export async function findNotes(words: string): Promise<void> {
  wanted = words
  if (!words) {
    offered.notes = []
    return
  }
  const found = await useTool<{ data: Note[] }>('search', { action: 'fulltext', query: words, pageSize: 20 }).catch((e) => {
    if (e instanceof Failure) return { data: [] }
    throw e
  })
  if (wanted !== words) return
  const documents = found.data.filter((n) => n.type === 'NodeDocument')
  offered.words = words
  offered.notes = [...documents, ...found.data.filter((n) => n.type !== 'NodeDocument')].slice(0, mostNotes)
}

const nameOf = (path: string) => path.split('/').filter(Boolean).at(-1) ?? path
const textFile = (name: string, text: string) => new File([text], name.replace(/[/\\:]/g, '_'), { type: 'text/markdown' })

/** noteFile returns a note as an attachment, as tools read it. */
export async function noteFile(note: Note): Promise<File> {
  if (note.type !== 'NodeDocument') {
    const { kramdown } = await useTool<{ kramdown: string }>('block', { action: 'get_kramdown', id: note.id })
    return textFile(`${nameOf(note.fsPath)} ${note.id}.md`, `Block ${note.id} of the document ${note.fsPath}\n\n${kramdown}`)
  }
  let text = `Document ${note.fsPath}\n\n`
  let next: Record<string, unknown> | undefined = {}
  while (next) {
    const window: { content: string; nextWindow?: Record<string, unknown> } = await useTool('fs', { ...next, action: 'read', path: note.fsPath, tokenBudget: 20000, blockLimit: 200 })
    text += window.content
    next = window.nextWindow
  }
  return textFile(`${nameOf(note.fsPath)}.md`, text)
}

interface Content {
  type?: string
  text?: string
  data?: string
  blob?: string
  mimeType?: string
  resource?: { text?: string }
}

function binary(name: string, data: string, mime = 'application/octet-stream'): File {
  return new File([Uint8Array.from(atob(data), (c) => c.charCodeAt(0))], name, { type: mime })
}

/** resourceFiles reads a resource. */
export async function resourceFiles(uri: string): Promise<File[]> {
  const { contents } = await call<{ contents?: Content[] }>('POST', '/resources', { uri })
  const name = nameOf(uri)
  const texts = (contents ?? []).filter((c) => c.blob === undefined).map((c) => c.text ?? '')
  return [
    ...(texts.length ? [textFile(name, texts.join('\n'))] : []),
    ...(contents ?? []).filter((c) => c.blob !== undefined).map((c) => binary(name, c.blob!, c.mimeType)),
  ]
}

/** promptFiles has a server fill in a prompt. What it writes comes from outside: it is attached, and looked at as files are. */
export async function promptFiles(name: string, args: Record<string, string>): Promise<File[]> {
  const { messages } = await call<{ messages?: { role: string; content: Content }[] }>('POST', '/prompts', { name, args })
  const files: File[] = []
  let text = ''
  for (const { role, content } of messages ?? []) {
    if (content.type === 'image') files.push(binary(`${name} picture`, content.data ?? '', content.mimeType))
    else text += (role === 'user' ? '' : `${role}:\n`) + (content.text ?? content.resource?.text ?? '') + '\n\n'
  }
  return [...(text ? [textFile(`${name}.md`, text)] : []), ...files]
}
