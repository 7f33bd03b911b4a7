// The puppy over SiYuan's window. It follows the file that a gateway writes into the workspace, or shows what a person chose in
// test mode; then no request is made.

import type { Doing, Pose } from '../src/store/puppy.svelte'
import { draw } from './drawing'
import { doingOf, readEvent, type PuppyEvent } from './events'
import { NoFile, readFile } from './files'
import { colon, t, type Text } from './texts'

const eventsFile = '/data/storage/petal/siyuan-plugins-mcp-sisyphus/puppyEvents.json'
const pollEvery = 500 // milliseconds
const resultLasts = 3000
const runLasts = 10 * 60_000 // without a word of its end
const heartChance = 0.3
const stored = { place: 'collie.panel.place', hidden: 'collie.panel.hidden' }
const poses: Pose[] = ['stand', 'sit', 'look', 'groom', 'lie', 'sleep']
const words: Record<Doing, Text> = {
  idle: 'has nothing to do', reading: 'reads', writing: 'writes', deleting: 'deletes', moving: 'moves something', dangerous: 'wants your answer', success: 'is done', error: 'has failed',
}

/** fraction returns a value that is a number from 0 to 1, and otherwise another one. */
const fraction = (value: unknown, otherwise: number) => (typeof value === 'number' && value >= 0 && value <= 1 ? value : otherwise)

function keptPlace(): { x: number; y: number } {
  try {
    const kept = JSON.parse(localStorage.getItem(stored.place) ?? '')
    return { x: fraction(kept.x, 1), y: fraction(kept.y, 1) }
  } catch {
    return { x: 0.98, y: 0.92 }
  }
}

export class Puppy {
  private box = document.createElement('section')
  private pup = document.createElement('button')
  private place = keptPlace()
  private seq: number | null = null // of the last event; null before the first look
  private event: PuppyEvent | null = null
  private testing: Doing | null = null
  private hearts = false
  private pose: Pose = 'sit'
  private timers = { poll: 0, end: 0, pose: 0 }
  private closed = false
  private held: { x: number; y: number } | null = null // where the pointer went down, as long as it is down

  /** answer is called when a person clicks a puppy that wants an answer. */
  constructor(private answer: () => void) {
    this.box.className = 'collie-puppy'
    this.pup.type = 'button'
    this.box.append(this.pup)
    this.pup.addEventListener('pointerdown', (e) => {
      this.held = { x: e.clientX, y: e.clientY }
      this.pup.setPointerCapture(e.pointerId)
    })
    this.pup.addEventListener('pointermove', (e) => this.held && this.drag(e))
    for (const end of ['pointerup', 'pointercancel'] as const) this.pup.addEventListener(end, () => (this.held = null))
    this.pup.addEventListener('click', () => this.doing() === 'dangerous' && !this.testing && this.answer())
    this.pup.addEventListener('keydown', (e) => this.key(e))
  }

  get hidden(): boolean {
    return localStorage.getItem(stored.hidden) === 'true'
  }

  /** hide hides the puppy, or shows it. Hidden it makes no requests. */
  hide(yes: boolean): void {
    localStorage.setItem(stored.hidden, String(yes))
    this.box.hidden = yes
  }

  /** test shows a state, whatever happens; null ends that. */
  test(doing: Doing | null): void {
    this.testing = doing
    this.hearts = doing === 'success'
    this.show()
  }

  open(): void {
    this.box.hidden = this.hidden
    document.body.append(this.box)
    this.show()
    this.relax()
    void this.poll()
  }

  close(): void {
    this.closed = true
    for (const timer of Object.values(this.timers)) clearTimeout(timer)
    this.box.remove()
  }

  private doing(): Doing {
    return this.testing ?? (this.event ? doingOf(this.event) : 'idle')
  }

  private show(): void {
    const doing = this.doing()
    const tool = this.testing ? (this.testing === 'idle' ? '' : 'fs') : (this.event?.tool ?? '')
    this.pup.innerHTML = draw(doing, this.pose, tool, this.hearts)
    this.pup.title = `${t('Puppy')}${colon()}${t(words[doing])}${tool ? ` (${tool})` : ''}`
    this.pup.ariaLabel = this.pup.title
    this.box.style.left = `calc(${this.place.x} * (100vw - var(--pup)))`
    this.box.style.top = `calc(${this.place.y} * (100vh - var(--pup)))`
  }

  private async poll(): Promise<void> {
    if (!this.hidden && !this.testing && !document.hidden) {
      try {
        this.take(readEvent(await readFile(eventsFile)))
      } catch (e) {
        if (e instanceof NoFile) this.take(null) // else the kernel is starting, and may have events from before
      }
    }
    if (!this.closed) this.timers.poll = window.setTimeout(() => void this.poll(), pollEvery)
  }

  private take(e: PuppyEvent | null): void {
    const first = this.seq === null
    if (e?.seq === this.seq) return
    this.seq = e?.seq ?? 0
    if (first || !e || this.closed) return // what was before is over
    this.event = e
    this.hearts = e.status === 'success' && Math.random() < heartChance
    clearTimeout(this.timers.end)
    this.timers.end = window.setTimeout(() => {
      this.event = null
      this.hearts = false
      this.show()
    }, e.status === 'running' ? runLasts : resultLasts)
    this.show()
  }

  private relax(): void {
    this.timers.pose = window.setTimeout(() => {
      this.pose = poses[Math.floor(Math.random() * poses.length)]!
      if (this.doing() === 'idle') this.show()
      this.relax()
    }, 5000 + Math.random() * 7000)
  }

  private put(x: number, y: number): void {
    this.place = { x: Math.min(Math.max(x, 0), 1), y: Math.min(Math.max(y, 0), 1) }
    localStorage.setItem(stored.place, JSON.stringify(this.place))
    this.show()
  }

  private room = () => ({ x: innerWidth - this.box.offsetWidth, y: innerHeight - this.box.offsetHeight })

  private drag(e: PointerEvent): void {
    if (Math.hypot(e.clientX - this.held!.x, e.clientY - this.held!.y) < 5) return
    this.held = { x: -9, y: -9 } // from now on every move counts
    this.put((e.clientX - this.box.offsetWidth / 2) / this.room().x, (e.clientY - this.box.offsetHeight / 2) / this.room().y)
  }

  private key(e: KeyboardEvent): void {
    const steps: Record<string, [number, number]> = { ArrowLeft: [-16, 0], ArrowRight: [16, 0], ArrowUp: [0, -16], ArrowDown: [0, 16] }
    const step = steps[e.key]
    if (!step) return
    e.preventDefault()
    e.stopPropagation() // SiYuan has keys of its own
    this.put(this.place.x + step[0] / this.room().x, this.place.y + step[1] / this.room().y)
  }
}
