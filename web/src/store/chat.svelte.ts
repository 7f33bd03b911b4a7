// Conversations. Components subscribe to the fields that they read, so that a piece of an answer renders the message
// that it belongs to and nothing else.

import { call, type ServerEvent } from '../services/api'
import { go, route } from '../services/route.svelte'
import { attempt, gateway, on, problemOf, soon, whenConnected } from './gateway.svelte'
import { loadQuestions } from './questions.svelte'
import type { Call, Config, Message, Part, Problem, Session, View } from './types'

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
  sending: { session: string; turn: string; text: string; failed: Problem | null } | null = $state(null)
  live: Record<string, Live> = $state({})
}

export const store = new Store()

const sayings = new Map<string, ServerEvent['data'][]>() // pieces that came while a snapshot was on its way
const asking = new Map<string, boolean>() // turns whose snapshot is on its way; true: ask once more

on('turn', (e) => takeTurn(e.data))
on('reset', () => (store.live = {}))
on('session', (e) => {
  soon(loadSessions)
  if (e.data.id === store.view?.id && !running(e.data.id)) soon(showRoute)
})
whenConnected(() => Promise.all([loadSessions(), showRoute()]))

/** running is the answer on its way in a session. */
export function running(session: string): Live | undefined {
  return Object.values(store.live).find((l) => l.session === session && !l.ended)
}

function takeTurn(body: any): void {
  const { turnId, sessionId, seq, type, data } = body
  const live = store.live[turnId]
  switch (type) {
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
      if (live) live.ended = true
      soon(loadQuestions)
      if (store.view?.id === sessionId) {
        void attempt(() => load(sessionId)).then(() => delete store.live[turnId])
      } else delete store.live[turnId]
      return
  }
  if (type.startsWith('tool.')) soon(loadQuestions)
  if (!live || seq > live.seq) void resnap(turnId)
}

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
  if (before && before.seq > s.seq) return
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
    if (['done', 'error', 'cancelled', 'interrupted'].includes(s.state)) delete store.live[turn]
    else adopt(s)
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
  store.sessions = page.sessions ?? []
  store.cursor = page.nextCursor ?? ''
}

export async function moreSessions(): Promise<void> {
  const page = await call<{ sessions: Session[] | null; nextCursor?: string }>('GET', `/sessions?cursor=${encodeURIComponent(store.cursor)}`)
  const known = new Set(store.sessions.map((s) => s.id))
  store.sessions.push(...(page.sessions ?? []).filter((s) => !known.has(s.id)))
  store.cursor = page.nextCursor ?? ''
}

async function load(id: string): Promise<void> {
  const view = await call<View>('GET', `/sessions/${encodeURIComponent(id)}`)
  if (shown() !== id) return
  store.view = view
  if (store.sending?.session === id && view.path?.some((m) => m.turnId === store.sending?.turn)) store.sending = null
  for (const turn of view.turns ?? []) if (!store.live[turn.turnId]) void resnap(turn.turnId)
}

/** shown is the session that the address names; empty for a new one. */
export function shown(): string {
  return route.page === 'chat' ? route.arg : (store.view?.id ?? '')
}

/** showRoute shows the session that the address names. */
export async function showRoute(): Promise<void> {
  const id = shown()
  if (store.view?.id !== id) store.view = null
  if (id && gateway.access === 'in' && !(await attempt(() => load(id))) && gateway.access === 'in') go('chat')
}

/** begin makes a session and sends its first message. */
export async function begin(config: Config, text: string): Promise<void> {
  const made = await call<Session>('POST', '/sessions', { config })
  go('chat', made.id)
  await load(made.id)
  await say(text)
}

/** say sends a message in the session that is shown. A message that was not sent stays, to be sent again. */
export async function say(text: string, turn: string = crypto.randomUUID()): Promise<void> {
  const view = store.view
  if (!view) return
  const parentId = view.path?.at(-1)?.id ?? ''
  store.sending = { session: view.id, turn, text, failed: null }
  try {
    await call('POST', `/sessions/${encodeURIComponent(view.id)}/turns`, {
      turnId: turn, userMessage: parentId ? { parentId, text } : { text },
    })
    await load(view.id)
  } catch (e) {
    if (store.sending?.turn === turn) store.sending.failed = problemOf(e)
  }
}

export async function cancel(turn: string): Promise<void> {
  await call('POST', `/turns/${encodeURIComponent(turn)}/cancel`, {})
}

export async function remove(session: string): Promise<void> {
  await call('DELETE', `/sessions/${encodeURIComponent(session)}?force=true`)
  if (store.view?.id === session) go('chat')
  await loadSessions()
}

/** liveOf is the answer on its way that a message is filled by. */
export function liveOf(m: Message): Live | undefined {
  return m.turnId ? store.live[m.turnId] : undefined
}
