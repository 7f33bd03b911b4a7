// The record of calls and changes: what of it is shown, and whether it is intact.

import { call, file } from '../services/api'
import { attempt, on } from './gateway.svelte'

/** Entry is a record as it is on disk. */
export interface Entry {
  seq: number
  ts: string
  kind: string
  callId?: string
  origin?: string
  principal?: string
  client?: string
  tool?: string
  action?: string
  name?: string
  risk?: string
  args?: unknown
  outcome?: string
  errorType?: string
  message?: string
  durationUs?: number
  bytesIn?: number
  bytesOut?: number
  detail?: unknown
}

export interface Row {
  chain: string
  record: Entry
}

export interface Flaw {
  fault: string
  file: string
  line?: number
  seq: number
  message: string
}

export interface Verdict {
  ok: boolean
  dir: string
  records: number
  chains: { chain: string; ok: boolean; records: number; uncovered: number; torn: boolean; problems: Flaw[] }[]
  anchor?: { path: string; ok: boolean; chains: number; problems: Flaw[] }
}

/** Asked is what a person has asked for. Times are those of fields of type datetime-local. */
export interface Asked {
  /** span is a length of time in hours, or "between" for since and until; empty for all. */
  span: string
  since: string
  until: string
  kind: string
  tool: string
  outcome: string
  origin: string
  text: string
  call: string
  /** own: also the reads of these pages. */
  own: boolean
}

export const nothing: Asked = { span: '', since: '', until: '', kind: '', tool: '', outcome: '', origin: '', text: '', call: '', own: false }

class Audit {
  asked: Asked = $state({ ...nothing })
  rows: Row[] | null = $state.raw(null)
  next = $state('')
  verdict: Verdict | null = $state.raw(null)
  /** busy is what is being done. */
  busy: '' | 'load' | 'verify' | 'export' = $state('')
}

export const audit = new Audit()

/** filter returns what was asked for as the gateway takes it. */
function filter(): Record<string, string> {
  const a = audit.asked
  const out: Record<string, string> = {}
  for (const name of ['kind', 'tool', 'outcome', 'origin', 'text', 'call'] as const) if (a[name].trim()) out[name] = a[name].trim()
  if (!a.own && !a.call.trim()) out.without = 'collie pages'
  return { ...out, ...times() }
}

function times(): { since?: string; until?: string } {
  const { span, since, until } = audit.asked
  if (span === 'between') return { ...(since && { since: new Date(since).toISOString() }), ...(until && { until: new Date(until).toISOString() }) }
  return span ? { since: new Date(Date.now() - Number(span) * 3_600_000).toISOString() } : {}
}

const page = 50 // records that one answer has
let latest = 0

/** look loads the newest records that were asked for, or with more those that come before the ones shown. */
export async function look(more = false): Promise<void> {
  const mine = ++latest
  audit.busy = 'load'
  const query = new URLSearchParams({ ...filter(), ...(more && { before: audit.next }) })
  const done = await attempt(async () => {
    const got = await call<{ records: Row[]; next?: string }>('GET', `/audit?${query}`)
    if (mine !== latest) return
    audit.rows = more ? [...(audit.rows ?? []), ...got.records] : got.records
    audit.next = got.next ?? ''
  })
  if (mine !== latest) return
  if (!done) audit.rows ??= []
  audit.busy = ''
}

/** beginning returns the record of how a call began. */
export async function beginning(id: string): Promise<Row | undefined> {
  const got = await call<{ records: Row[] }>('GET', `/audit?${new URLSearchParams({ call: id, limit: '10' })}`)
  return got.records.find((row) => row.record.kind.endsWith('.start'))
}

export async function verify(): Promise<void> {
  audit.busy = 'verify'
  audit.verdict = null
  await attempt(async () => (audit.verdict = await call<Verdict>('GET', '/audit/verify')))
  audit.busy = ''
}

/** taken returns all records that were asked for, as lines; with proof all of the time that was asked for, signed. */
export async function taken(proof: boolean): Promise<Blob | null> {
  let data: Blob | null = null
  audit.busy = 'export'
  await attempt(async () => (data = await file('/audit/export', proof ? { ...times(), proof } : filter())))
  audit.busy = ''
  return data
}

let shown = 0
let waiting = false
const pause = 2000 // between two looks of itself

/** follow looks for newer records while calls end, unless earlier ones were loaded, until the function that it returns is called. */
export function follow(): () => void {
  shown++
  return () => void shown--
}

on('call.done', () => {
  if (!shown || waiting) return
  waiting = true
  setTimeout(() => {
    waiting = false
    if (shown && !audit.busy && (audit.rows?.length ?? 0) <= page) void look()
  }, pause)
})
