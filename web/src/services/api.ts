// Every request of the pages goes through this module.

import { framed } from './frame'

const keyName = 'collie.browser.key'
const keyHeader = 'Collie-Browser-Key'

/** Failure is an error that the gateway answered with, or that kept it from answering. */
export class Failure extends Error {
  constructor(
    readonly status: number,
    readonly type: string,
    message: string,
    readonly hint = '',
    readonly line?: number,
    readonly field?: string,
  ) {
    super(message)
  }
}

function key(): string {
  return localStorage.getItem(keyName) ?? ''
}

/** lost is the failure of a connection that broke off, also in the middle of an answer. */
const lost = (e: unknown) => new Failure(0, 'unreachable', String(e))

async function send(method: string, path: string, body?: unknown, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers)
  headers.set(keyHeader, key())
  if (framed) headers.set('Collie-Panel', '1')
  const raw = body instanceof Blob
  if (body !== undefined) headers.set('Content-Type', raw ? body.type || 'application/octet-stream' : 'application/json')
  let answer: Response
  try {
    answer = await fetch(path, {
      ...init, method, headers, credentials: 'same-origin', cache: 'no-store',
      body: body === undefined ? null : raw ? body : JSON.stringify(body),
    })
  } catch (e) {
    if (init.signal?.aborted) throw e
    throw lost(e)
  }
  if (answer.ok || answer.status === 304) return answer
  const said = await answer.json().catch(() => null)
  if (!said?.error && [502, 503, 504].includes(answer.status)) throw new Failure(0, 'unreachable', answer.statusText) // a proxy in front says so
  const error = said?.error ?? {}
  throw new Failure(answer.status, error.type ?? 'internal_error', error.message ?? answer.statusText, error.hint, error.line, error.field)
}

/** call sends a request to the API and returns what it answers. A body is sent as JSON, a Blob as it is. */
export async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
  const answer = await send(method, '/api/v1' + path, body)
  return (answer.status === 204 ? undefined : await answer.json().catch((e) => { throw lost(e) })) as T
}

const kept = new Map<string, { tag: string; value: unknown }>()

/** callKept gets what call does, as a value that stays the same one as long as the gateway says that it is unchanged. */
export async function callKept<T>(path: string): Promise<T> {
  const had = kept.get(path)
  const answer = await send('GET', '/api/v1' + path, undefined, had && { headers: { 'If-None-Match': had.tag } })
  if (had && answer.status === 304) return had.value as T
  const value = await answer.json().catch((e) => { throw lost(e) })
  kept.set(path, { tag: answer.headers.get('ETag') ?? '', value })
  return value
}

/** useTool calls an action of one of our own tools, as everybody does, and returns its result. What the tool refuses is a Failure. */
export async function useTool<T>(name: string, args: Record<string, unknown>): Promise<T> {
  const { result, isError } = await call<{ isError: boolean; result: { structuredContent?: any; content?: { text?: string }[] } }>('POST', '/calls', { name, args })
  const text = result.content?.[0]?.text ?? ''
  if (isError) {
    const error = parsed(text)?.error
    throw new Failure(200, error?.type ?? 'tool_error', error?.message ?? text, error?.hint)
  }
  return result.structuredContent ?? parsed(text)
}

function parsed(text: string): any {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** file returns what the API answers as it is. What is asked with a body is posted. */
export async function file(path: string, body?: unknown): Promise<Blob> {
  return (await send(body === undefined ? 'GET' : 'POST', '/api/v1' + path, body)).blob()
}

/** signIn exchanges the secret of a link. */
export async function signIn(link: string): Promise<void> {
  const answer = await send('POST', '/pages/session', { link })
  localStorage.setItem(keyName, (await answer.json()).key)
}

/** signedIn reports whether this browser is signed in, and keeps it so. */
export async function signedIn(): Promise<boolean> {
  if (!key()) return false
  try {
    await send('GET', '/pages/session')
    return true
  } catch (e) {
    if (e instanceof Failure && e.status === 401) return false
    throw e
  }
}

/** thisBrowser returns the id of this browser among those that are signed in. */
export async function thisBrowser(): Promise<string> {
  return (await (await send('GET', '/pages/session')).json()).browser.id
}

export async function signOut(): Promise<void> {
  await send('DELETE', '/pages/session')
  localStorage.removeItem(keyName)
  kept.clear()
}

/** One event of a stream. */
export interface ServerEvent {
  id: string
  kind: string
  data: any
}

/** stream reads server-sent events until the stream ends or signal aborts. It resolves where the gateway ended it. */
export async function stream(path: string, after: string, signal: AbortSignal, take: (e: ServerEvent) => void): Promise<void> {
  const headers: Record<string, string> = { Accept: 'text/event-stream' }
  if (after) headers['Last-Event-ID'] = after
  const answer = await send('GET', '/api/v1' + path, undefined, { headers, signal })
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read().catch((e) => {
      throw signal.aborted ? e : lost(e)
    })
    if (done) return
    const blocks = (rest + value).split('\n\n')
    rest = blocks.pop()!
    for (const block of blocks) {
      const event: ServerEvent = { id: '', kind: '', data: null }
      let data = ''
      for (const line of block.split('\n')) {
        if (line.startsWith('id: ')) event.id = line.slice(4)
        else if (line.startsWith('event: ')) event.kind = line.slice(7)
        else if (line.startsWith('data: ')) data += line.slice(6)
      }
      if (!data) continue
      event.data = JSON.parse(data)
      take(event)
    }
  }
}
