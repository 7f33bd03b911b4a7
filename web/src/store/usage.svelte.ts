// What conversations have cost, by day, agent and model.

import { call } from '../services/api'
import { on, soon, whenConnected } from './gateway.svelte'

export interface Row {
  day: string
  provider: string
  model: string
  agent?: string
  steps: number
  input: number
  output: number
  costMicros: number
}

/** Sum is what several rows come to. */
export interface Sum {
  name: string
  input: number
  output: number
  costMicros: number
  steps: number
}

class Usage {
  rows: Row[] | null = $state.raw(null)
  days = $state(30)
}

export const usage = new Usage()

const day = 86_400_000

export async function loadUsage(): Promise<void> {
  const first = new Date(Math.floor(Date.now() / day) * day - (usage.days - 1) * day)
  const got = await call<{ rows: Row[] | null }>('GET', `/usage?since=${first.toISOString()}`)
  usage.rows = got.rows ?? []
}

/** sums adds rows of the same name up, the largest first. */
export function sums(rows: Row[], name: (r: Row) => string): Sum[] {
  const all = new Map<string, Sum>()
  for (const r of rows) {
    const s = all.get(name(r)) ?? { name: name(r), input: 0, output: 0, costMicros: 0, steps: 0 }
    s.input += r.input
    s.output += r.output
    s.costMicros += r.costMicros
    s.steps += r.steps
    all.set(s.name, s)
  }
  return [...all.values()].sort((a, b) => b.costMicros - a.costMicros || b.input + b.output - a.input - a.output)
}

/** byDay adds rows up for each of the last days, oldest first, days without any included. */
export function byDay(rows: Row[], days: number): Sum[] {
  const known = new Map(sums(rows, (r) => r.day).map((s) => [s.name, s]))
  return Array.from({ length: days }, (_, i) => {
    const name = new Date(Date.now() - (days - 1 - i) * day).toISOString().slice(0, 10)
    return known.get(name) ?? { name, input: 0, output: 0, costMicros: 0, steps: 0 }
  })
}

on('turn', (e) => e.data.type === 'turn.end' && soon(loadUsage))
whenConnected(loadUsage)
