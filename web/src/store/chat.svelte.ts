// Conversations. Components subscribe to the fields that they read, so that a piece of an answer renders the message
// that it belongs to and nothing else.

import { call, Failure, file, type ServerEvent } from '../services/api'
import { forget, forgetOld } from '../services/drafts'
import { forgetActive, markActive, markInactive, onlyActive, refresh, shouldSkipRefresh } from './protection'
import { go, route } from '../services/route.svelte'
import { loadFolds } from './folds.svelte'
import { attempt, gateway, on, problemOf, soon, whenConnected } from './gateway.svelte'
import { loadQuestions } from './questions.svelte'
import type { Call, Config, File, Found, Message, Part, Problem, Session, View } from './types'

/** Live is an answer on its way. */
export interface Live {
  turn: string
  session: string
  seq: number
  state: string
  parts: Part[]
  calls: Call[]
  ended: boolean
}

class Store {
  sessions: Session[] = $state([])
  cursor = $state('')
  view: View | null = $state(null)
  sending: Said | null = $state(null)
  live: Record<string, Live> = $state({})
  /** picked are the messages that were chosen, by id; null where none are being chosen. */
  picked: Record<string, boolean> | null = $state(null)
}

export const store = new Store()

const sayings = new Map<string, ServerEvent['data'][]>() // pieces that came while a snapshot was on its way
const over = new Set<string>() // turns that have ended: what was asked before may still say that they run
const mostOver = 500
const asking = new Map<string, boolean>() // turns whose snapshot is on its way; true: ask once more

/** views are the conversations that were shown last, the latest at the end: as long as they are as they were, they are not asked for again. */
const views = new Map<string, View>()
const mostViews = 20
const mostKept = 20_000 // messages of all of them

on('turn', (e) => {
  if (e.data.sessionId !== shown()) views.delete(e.data.sessionId)
  takeTurn(e.data)
})
on('reset', () => {
  store.live = {}
  forgetActive()
})
on('session', (e) => {
  const { id, revision } = e.data
  if (views.get(id)?.revision !== revision) views.delete(id)
  // A conversation that is new is shown at once; what else would move the list waits.
  if (store.sessions.some((s) => s.id === id)) refresh('sessions', loadSessions)
  else if (revision) soon(loadSessions)
  if (id === store.view?.id && !running(id)) soon(showRoute)
})
whenConnected(() => {
  views.clear()
  return Promise.all([loadSessions(), showRoute()])
})
void forgetOld()

/** keepView keeps a conversation, and drops those that were not shown for the longest. */
function keepView(view: View): void {
  views.delete(view.id)
  if (view.turns?.length) return
  views.set(view.id, view)
  let messages = 0
  for (const one of views.values()) messages += one.path?.length ?? 0
  for (const one of views.values()) {
    if (views.size <= mostViews && messages <= mostKept) return
    messages -= one.path?.length ?? 0
    views.delete(one.id)
  }
}

/** running is the answer on its way in a session, not one that waits for it. */
export function running(session: string): Live | undefined {
  const open = Object.values(store.live).filter((l) => l.session === session && !l.ended)
  return open.find((l) => l.state !== 'queued') ?? open[0]
}

function takeTurn(body: any): void {
  const { turnId, sessionId, seq, type, data } = body
  const live = store.live[turnId]
  if (type !== 'turn.end') markActive(sessionId, turnId)
  switch (type) {
    case 'usage':
    case 'retry':
    case 'tool.progress': // which change nothing that is shown
      if (live && seq === live.seq + 1) live.seq = seq
      else if (!asking.has(turnId) && (!live || seq > live.seq)) void resnap(turnId)
      return
    case 'snapshot':
      adopt(data)
      return
    case 'text.delta':
    case 'reasoning.delta':
      if (asking.has(turnId)) sayings.get(turnId)?.push(body)
      else if (live && seq === live.seq + 1) append(live, body)
      else if (!live || seq > live.seq) void resnap(turnId)
      return
    case 'turn.end':
      soon(loadQuestions)
      ended(sessionId, turnId)
      finish(turnId, sessionId, seq)
      return
  }
  if (type.startsWith('tool.')) soon(loadQuestions)
  if (!live || seq > live.seq) void resnap(turnId)
}

/** ended keeps in mind that a turn has ended. */
function ended(session: string, turn: string): void {
  over.add(turn)
  if (over.size > mostOver) over.delete(over.values().next().value!)
  markInactive(session, turn)
}

/** finish has an answer that is complete shown as the gateway keeps it. Until that has come, what was streamed stays. */
function finish(turn: string, session: string, seq = 0): void {
  const live = store.live[turn]
  if (live) live.ended = true
  const folded = live && live.seq + 1 === seq ? textOf(live.parts) : undefined
  if (session === shown())
    void attempt(async () => {
      await load(session)
      const kept = store.view?.path?.find((m) => m.turnId === turn && m.role === 'assistant')
      if (!kept || folded === undefined) return
      const same = textOf(kept.parts) === folded
      performance.mark('folded', { detail: same }) // which stories read
      if (!same) console.warn('what was streamed is not what is kept', turn)
    })
  else delete store.live[turn]
}

const textOf = (parts: Part[] | null) => (parts ?? []).filter((p) => p.type === 'text').map((p) => p.text).join('\n\n')

function append(live: Live, body: any): void {
  const { partIndex, text } = body.data
  const kind = body.type === 'text.delta' ? 'text' : 'reasoning'
  live.seq = body.seq
  while (live.parts.length <= partIndex) live.parts.push({ type: kind, text: '' })
  const part = live.parts[partIndex]!
  part.text = (part.text ?? '') + text
}

function adopt(s: any): void {
  const before = store.live[s.turnId]
  if (before ? before.seq > s.seq : over.has(s.turnId)) return
  store.live[s.turnId] = {
    turn: s.turnId, session: s.sessionId, seq: s.seq, state: s.state, parts: s.parts ?? [], calls: s.calls ?? [], ended: false,
  }
}

/** resnap asks for the whole of a turn whose shape has changed. */
async function resnap(turn: string): Promise<void> {
  if (asking.has(turn)) {
    asking.set(turn, true)
    return
  }
  asking.set(turn, false)
  sayings.set(turn, [])
  let again = false
  try {
    const s = await call<any>('GET', `/turns/${encodeURIComponent(turn)}`)
    adopt(s)
    if (['done', 'error', 'cancelled', 'interrupted'].includes(s.state)) {
      ended(s.sessionId, turn)
      finish(turn, s.sessionId)
    }
    const live = store.live[turn]
    for (const body of sayings.get(turn) ?? []) {
      if (live && body.seq === live.seq + 1) append(live, body)
      else if (live && body.seq > live.seq) again = true
    }
  } catch {
    // the stream begins anew where the gateway is gone
  }
  again ||= asking.get(turn) === true
  asking.delete(turn)
  sayings.delete(turn)
  if (again && gateway.connected) void resnap(turn)
}

export async function loadSessions(): Promise<void> {
  const page = await call<{ sessions: Session[] | null; nextCursor?: string }>('GET', '/sessions')
  const fresh = page.sessions ?? []
  if (shouldSkipRefresh()) {
    // While an answer is written, known ones stay where they are.
    const now = new Map(fresh.map((s) => [s.id, s]))
    const before = store.sessions.filter((s) => now.has(s.id))
    store.sessions = [...fresh.filter((s) => !before.some((b) => b.id === s.id)), ...before.map((s) => now.get(s.id)!)]
  } else store.sessions = fresh
  store.cursor = page.nextCursor ?? ''
}

export async function moreSessions(): Promise<void> {
  const page = await call<{ sessions: Session[] | null; nextCursor?: string }>('GET', `/sessions?cursor=${encodeURIComponent(store.cursor)}`)
  const known = new Set(store.sessions.map((s) => s.id))
  store.sessions.push(...(page.sessions ?? []).filter((s) => !known.has(s.id)))
  store.cursor = page.nextCursor ?? ''
}

let loading: Promise<void> = Promise.resolve() // the load that was begun last

/** load shows a session as it is now. Of several loads the one that was begun last counts, and all end with it. */
async function load(id: string): Promise<void> {
  const mine: Promise<void> = (loading = fetchView(id, () => loading === mine))
  for (let last = mine; ; last = loading) {
    await last
    if (last === loading) return
  }
}

async function fetchView(id: string, newest: () => boolean): Promise<void> {
  const view = await call<View>('GET', `/sessions/${encodeURIComponent(id)}`)
  if (shown() !== id || !newest()) return
  store.view = view
  keepView(store.view)
  const open = new Set(view.turns?.map((t) => t.turnId))
  const sent = store.sending?.session === id && !store.sending.failed ? [store.sending.turn] : []
  onlyActive(id, new Set([...open, ...sent].filter((turn) => !over.has(turn))))
  for (const live of Object.values(store.live)) if (live.session === id && live.ended && !open.has(live.turn)) delete store.live[live.turn]
  if (store.sending?.session === id && view.path?.some((m) => m.turnId === store.sending?.turn)) store.sending = null
  for (const turn of view.turns ?? []) if (!store.live[turn.turnId] && !over.has(turn.turnId)) void resnap(turn.turnId)
}

/** shown is the session that the address names; empty for a new one. */
export function shown(): string {
  return route.page === 'chat' ? route.arg : (store.view?.id ?? '')
}

/** showRoute shows the session that the address names. */
export async function showRoute(): Promise<void> {
  const id = shown()
  if (store.view?.id !== id) {
    store.view = store.picked = null
    void loadFolds(id)
  }
  if (!id || gateway.access !== 'in') return
  const kept = views.get(id)
  if (kept && !store.view && gateway.connected) {
    loading = Promise.resolve() // of those that are on their way none counts
    store.view = kept
    keepView(kept)
    return
  }
  try {
    await load(id)
  } catch (e) {
    if (e instanceof Failure && e.status === 404 && shown() === id) go('chat')
    throw e
  }
}

/** Said is a message that is on its way to the gateway. */
export interface Said {
  session: string
  parentId: string
  turn: string
  text: string
  files: File[]
  /** steer gives it to the answer that is being written, instead of after it. */
  steer: boolean
  failed: Problem | null
}

/** begin makes a session. */
export async function begin(config: Config): Promise<string> {
  const made = await call<Session>('POST', '/sessions', { config })
  go('chat', made.id)
  return made.id
}

/** attach keeps a file for a message of a session. */
export async function attach(session: string, file: globalThis.File): Promise<File> {
  return call('POST', `/blobs?session=${encodeURIComponent(session)}&name=${encodeURIComponent(file.name)}`, file)
}

/** say sends a message. One that was not sent stays, to be sent again. */
export async function say(said: Omit<Said, 'failed'>): Promise<void> {
  store.sending = { ...said, failed: null }
  markActive(said.session, said.turn)
  const { parentId, text, files } = said
  try {
    await call('POST', `/sessions/${encodeURIComponent(said.session)}/turns`, {
      turnId: said.turn,
      userMessage: { ...(parentId && { parentId }), text, parts: files.map((file) => ({ type: 'file', file })) },
      ...(said.steer && { overrides: { busyPolicy: 'steer' } }),
    })
    await load(said.session)
  } catch (e) {
    markInactive(said.session, said.turn)
    if (store.sending?.turn === said.turn) store.sending.failed = problemOf(e)
  }
}

/** onMessage asks for something about a message, and shows what has become of the session. */
async function onMessage(method: string, m: Message, what: string, body?: unknown): Promise<void> {
  const session = shown()
  await call(method, `/messages/${encodeURIComponent(m.id)}${what}`, body)
  await load(session)
}

/** regenerate has a message answered once more, beside the answers that it has. */
export const regenerate = (m: Message) => onMessage('POST', m, '/regenerate', {})
/** proceed has an answer that broke off go on. */
export const proceed = (m: Message) => onMessage('POST', m, '/continue', {})
/** edit puts another wording beside a message of the person, and has it answered. Its files stay. */
export const edit = (m: Message, text: string) =>
  onMessage('POST', m, '/edit', { parts: [{ type: 'text', text }, ...(m.parts ?? []).filter((p) => p.type === 'file')] })
/** removeMessage deletes a message and what follows it. */
export const removeMessage = (m: Message) => onMessage('DELETE', m, '')

/** removeOnly deletes a message; what follows it stays. */
export const removeOnly = (m: Message) => onMessage('DELETE', m, '?keepChildren=true')

/** prune deletes all branches of a session but the one that is shown. */
export async function prune(session: string): Promise<void> {
  await call('POST', `/sessions/${encodeURIComponent(session)}/prune`)
  await load(session)
}

/** exported returns a session as a file: markdown, json or html. */
export const exported = (session: string, format: string) => file(`/sessions/${encodeURIComponent(session)}/export?format=${format}`)

/** writeNote writes a session into a new document of the notes. */
export async function writeNote(session: string, path: string): Promise<void> {
  const answer = await call<{ isError?: boolean; error?: Problem & { type?: string } }>('POST', `/sessions/${encodeURIComponent(session)}/note`, { path })
  if (answer.error) throw new Failure(200, answer.error.type ?? 'api_error', answer.error.message, answer.error.hint)
}

/** select goes to another of the messages that answer the same one. */
export async function select(m: Message, index: number): Promise<void> {
  const session = shown()
  await call('POST', `/messages/${encodeURIComponent(m.parentId)}/select`, { index })
  await load(session)
}

/** fork begins a session with what was said up to a message. */
export async function fork(m: Message): Promise<void> {
  const made = await call<Session>('POST', `/messages/${encodeURIComponent(m.id)}/fork`, {})
  go('chat', made.id)
}

/** change changes the title or the settings of a session. */
export async function change(session: string, patch: { title?: string; config?: Config }): Promise<void> {
  await call('PATCH', `/sessions/${encodeURIComponent(session)}`, patch)
  await Promise.all([loadSessions(), load(session)])
}

/** search finds messages with a text. */
export async function search(text: string): Promise<Found[]> {
  return (await call<{ found: Found[] | null }>('GET', `/search?q=${encodeURIComponent(text)}`)).found ?? []
}

export async function cancel(turn: string): Promise<void> {
  await call('POST', `/turns/${encodeURIComponent(turn)}/cancel`, {})
}

export async function remove(session: string): Promise<void> {
  await call('DELETE', `/sessions/${encodeURIComponent(session)}?force=true`)
  views.delete(session)
  void forget(session)
  if (store.view?.id === session) go('chat')
  await loadSessions()
}

/** liveOf is the answer on its way that a message is filled by. */
export function liveOf(m: Message): Live | undefined {
  return m.turnId ? store.live[m.turnId] : undefined
}
