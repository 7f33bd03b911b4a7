// What the puppy shows: the calls that run, whether a person is asked, how the last call ended, and what it is fed.
// States come from the stream of events. In test mode they come from the page, and no request is made.

import { Failure, useTool } from '../services/api'
import { gateway, on, problemOf, whenConnected } from './gateway.svelte'
import { questions } from './questions.svelte'
import type { Problem } from './types'

export type Doing = 'idle' | 'reading' | 'writing' | 'deleting' | 'moving' | 'dangerous' | 'success' | 'error'
export type Pose = 'stand' | 'sit' | 'look' | 'groom' | 'lie' | 'sleep'
export const doings: Doing[] = ['idle', 'reading', 'writing', 'deleting', 'moving', 'dangerous', 'success', 'error']
export const poses: Pose[] = ['stand', 'sit', 'look', 'groom', 'lie', 'sleep']

const byClass: Record<string, Doing> = { read: 'reading', write: 'writing', remove: 'deleting', move: 'moving' }
const resultLasts = 3000
const runLasts = 700 // at least, so that quick calls are seen
const mealLasts = 4000
const heartChance = 0.3

export interface Item {
  id: string
  label: string
  cost: number
}

export interface Wallet {
  balance: number
  totalEarned: number
  callsToday: number
  lastAction?: string
  bought?: { id: string; count: number }[]
}

interface Run {
  id: string
  tool: string
  doing: Doing
  since: number
}

const keys = { hidden: 'collie.puppy.hidden', place: 'collie.puppy.place', eaten: 'collie.puppy.eaten' }

/** stored returns what this browser keeps under a key, or otherwise if it keeps nothing that can be read. */
function stored<T>(key: string, otherwise: T): T {
  try {
    return JSON.parse(localStorage.getItem(key) ?? '') ?? otherwise
  } catch {
    return otherwise
  }
}

const store = (key: string, value: unknown) => localStorage.setItem(key, JSON.stringify(value))

/** within keeps a part of the window between 0 and 1. */
const within = (part: unknown, otherwise: number) => (typeof part === 'number' && part >= 0 && part <= 1 ? part : otherwise)

class Puppy {
  hidden = $state(stored<boolean>(keys.hidden, false) === true)
  /** Where it is, as parts of the window's width and height. */
  place = $state(first())
  /** docked: it is where it is at first, and nobody has put it elsewhere. */
  docked = $state(localStorage.getItem(keys.place) === null)
  /** testing is the state that a person chose in test mode; null outside of it. */
  testing: Doing | null = $state(null)
  running: Run[] = $state.raw([])
  ended: { tool: string; doing: 'success' | 'error' } | null = $state.raw(null)
  hearts = $state(false)
  eating: string | null = $state(null)
  pose: Pose = $state('sit')
  wallet: Wallet | null = $state.raw(null)
  items: Item[] = $state.raw([])
  /** missing is why nobody keeps coins. */
  missing: Problem | null = $state.raw(null)
  eaten: Record<string, number> = $state.raw(stored(keys.eaten, {}))

  readonly doing: Doing = $derived.by(() => {
    if (this.testing) return this.testing
    if (questions.open.length > 0) return 'dangerous'
    return this.running.at(-1)?.doing ?? this.ended?.doing ?? 'idle'
  })

  /** tool is what is called, or was called last: "fs.read". */
  readonly tool: string = $derived.by(() => {
    if (this.testing) return this.testing === 'idle' ? '' : 'fs'
    if (questions.open.length > 0) return questions.open[0]!.question.tool
    return this.running.at(-1)?.tool ?? this.ended?.tool ?? ''
  })
}

function first(): { x: number; y: number } {
  const kept = stored<{ x?: unknown; y?: unknown }>(keys.place, {})
  return { x: within(kept.x, 1), y: within(kept.y, 0.74) }
}

export const puppy = new Puppy()

export function hide(yes: boolean): void {
  puppy.hidden = yes
  store(keys.hidden, yes)
}

/** put moves the puppy; x and y are parts of the window between 0 and 1. */
export function put(x: number, y: number): void {
  puppy.place = { x: Math.min(Math.max(x, 0), 1), y: Math.min(Math.max(y, 0), 1) }
  puppy.docked = false
  store(keys.place, puppy.place)
}

/** test shows a state, whatever happens; null ends that. */
export function test(doing: Doing | null): void {
  puppy.testing = doing
  puppy.hearts = doing === 'success'
}

let result = 0

function showEnd(tool: string, doing: 'success' | 'error'): void {
  puppy.ended = { tool, doing }
  puppy.hearts = doing === 'success' && Math.random() < heartChance
  clearTimeout(result)
  result = window.setTimeout(() => {
    puppy.ended = null
    puppy.hearts = false
  }, resultLasts)
}

/** quiet are calls that this page makes for the puppy itself. */
const quiet = (tool: string) => /^mascot\b/.test(tool)

on('call.started', ({ data }) => {
  if (quiet(data.tool)) return
  puppy.running = [...puppy.running, { id: data.callId, tool: data.tool, doing: byClass[data.class] ?? 'reading', since: performance.now() }]
})
let ends = 0
let endShown = 0
on('call.done', ({ data }) => {
  if (quiet(data.tool)) return
  const end = ++ends
  const run = puppy.running.find((one) => one.id === data.callId)
  const wait = run ? Math.max(run.since + runLasts - performance.now(), 0) : 0
  setTimeout(() => {
    puppy.running = puppy.running.filter((one) => one.id !== data.callId)
    if (end < endShown) return // timers of calls that end together fire in any order
    endShown = end
    showEnd(data.tool, data.outcome === 'ok' ? 'success' : 'error')
  }, wait)
})
whenConnected(async () => void (puppy.running = [])) // the ends of those that ran may be lost

let posing = 0

/** relax has the puppy take another pose now and then. It returns a function that ends that. */
export function relax(): () => void {
  const next = () => {
    puppy.pose = poses[Math.floor(Math.random() * poses.length)]!
    posing = window.setTimeout(next, 5000 + Math.random() * 7000)
  }
  posing = window.setTimeout(next, 3000)
  return () => clearTimeout(posing)
}

const ask = <T>(args: Record<string, string>) => useTool<T>('mascot', args)

/** loadWallet asks for coins and shop. */
export async function loadWallet(): Promise<void> {
  if (gateway.access !== 'in') return
  try {
    const [wallet, shop] = await Promise.all([ask<Wallet>({ action: 'get_balance' }), ask<{ items: Item[] }>({ action: 'shop' })])
    puppy.wallet = wallet
    puppy.items = shop.items
    puppy.missing = null
  } catch (e) {
    if (e instanceof Failure && (e.status === 0 || e.status === 401)) throw e
    puppy.missing = problemOf(e)
  }
}

export async function buy(item: Item): Promise<void> {
  try {
    await ask({ action: 'buy', item_id: item.id })
  } finally {
    await loadWallet()
  }
}

/** left is how many of an item were bought and are not eaten. */
export function left(id: string): number {
  return Math.max((puppy.wallet?.bought?.find((one) => one.id === id)?.count ?? 0) - (puppy.eaten[id] ?? 0), 0)
}

let meal = 0

/** feed gives the puppy something that was bought. */
export function feed(id: string): void {
  if (left(id) === 0) return
  puppy.eaten = { ...puppy.eaten, [id]: (puppy.eaten[id] ?? 0) + 1 }
  store(keys.eaten, puppy.eaten)
  puppy.eating = id
  puppy.hearts = true
  clearTimeout(meal)
  meal = window.setTimeout(() => {
    puppy.eating = null
    puppy.hearts = false
  }, mealLasts)
}
