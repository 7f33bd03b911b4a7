// What tools may do in each notebook, and the writes of the last days, which can be taken back.

import { call, Failure, useTool } from '../services/api'
import { on, problemOf, soon, whenConnected } from './gateway.svelte'
import type { Problem } from './types'

export interface Notebook {
  id: string
  name: string
  level: string
  closed?: boolean
}

export interface Write {
  requestId: string
  tool: string
  action: string
  state: string
  createdAt: string
  names: string[]
  canUndo: boolean
  noUndo?: string
}

export interface Detail {
  write: Write
  before: { id: string; path?: string; document?: boolean; text: string }[]
  inverse?: string
  /** added is the id of the document that it has made. */
  added?: string
  /** addedBlocks are the ids of the blocks that it has made. */
  addedBlocks?: string[]
  changedSince: string[]
}

class Notebooks {
  levels: string[] = $state.raw([])
  list: Notebook[] | null = $state.raw(null)
  writes: Write[] = $state.raw([])
  /** missing is why there are no notes. */
  missing: Problem | null = $state.raw(null)
}

export const notebooks = new Notebooks()

export async function loadNotebooks(): Promise<void> {
  try {
    const [levels, recent] = await Promise.all([
      call<{ levels: string[]; notebooks: Notebook[] }>('GET', '/notes/levels'), call<{ writes: Write[] }>('GET', '/notes/writes'),
    ])
    notebooks.levels = levels.levels
    notebooks.list = levels.notebooks
    notebooks.writes = recent.writes
    notebooks.missing = null
  } catch (e) {
    if (!(e instanceof Failure) || e.status === 0 || e.status === 401) throw e
    notebooks.missing = problemOf(e)
  }
}

/** setLevel sets what tools may do in a notebook; typed is its name, to allow more than before. */
export async function setLevel(n: Notebook, level: string, typed: string): Promise<void> {
  try {
    await call('POST', '/notes/levels', { notebook: n.id, level, ...(typed && { typed }) })
  } finally {
    await loadNotebooks()
  }
}

/** detail returns what there was before a write. */
export async function detail(w: Write): Promise<Detail> {
  return call<Detail>('GET', `/notes/writes/${encodeURIComponent(w.requestId)}`)
}

/** textOf returns the Markdown of a block or document as it is now; empty where there is none any more. */
export async function textOf(id: string): Promise<string> {
  try {
    return (await useTool<{ kramdown?: string }>('block', { action: 'get_kramdown', id })).kramdown ?? ''
  } catch (e) {
    if (e instanceof Failure && [200, 404].includes(e.status)) return ''
    throw e
  }
}

export async function undo(w: Write): Promise<void> {
  try {
    await call('POST', `/notes/writes/${encodeURIComponent(w.requestId)}/undo`, {})
  } finally {
    await loadNotebooks()
  }
}

on('call.done', () => soon(loadNotebooks))
whenConnected(loadNotebooks)
