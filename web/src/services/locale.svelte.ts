// Texts in two languages. The English text is the key; a text without a translation does not compile. Each feature has
// its texts in a file of src/texts. Those of the frame and of the chat are everywhere; all others are loaded with the
// pages that use them, which take t from that file.

import { around } from './frame'
import { chat } from '../texts/chat'
import { frame } from '../texts/frame'

const zh = { ...frame, ...chat }

export type Text = keyof typeof zh
export type Language = 'en' | 'zh'

const stored = 'collie.language'
const surrounding = around<Language>('language', ['en', 'zh'])

function first(): Language {
  if (surrounding) return surrounding
  const chosen = localStorage.getItem(stored)
  if (chosen === 'en' || chosen === 'zh') return chosen
  return navigator.language.toLowerCase().startsWith('zh') ? 'zh' : 'en'
}

const state = $state({ language: first() })

export function language(): Language {
  return state.language
}

export function speak(to: Language): void {
  state.language = to
  if (!surrounding) localStorage.setItem(stored, to)
  document.documentElement.lang = to === 'zh' ? 'zh-CN' : 'en'
}

/** words returns a t that knows the texts of one feature too. */
export function words<T extends Record<string, string>>(own: T): (text: Text | (keyof T & string)) => string {
  const all: Record<string, string> = { ...zh, ...own }
  return (text) => (state.language === 'zh' ? all[text]! : text)
}

/** t returns a text in the language of the person. */
export const t = words({})

/** colon stands between a name and what it names, comma between parts. */
export const colon = () => (state.language === 'zh' ? '：' : ': ')
export const comma = () => (state.language === 'zh' ? '，' : ', ')

const locale = () => (state.language === 'zh' ? 'zh-CN' : 'en')

/** number returns a number as the person writes it. */
export const number = (n: number): string => n.toLocaleString(locale())

/** date, clock and moment return the day of a time, its hour, and both. */
export const date = (time: string): string => new Date(time).toLocaleDateString(locale(), { dateStyle: 'medium' })
export const clock = (time: string): string => new Date(time).toLocaleTimeString(locale())
export const moment = (time: string): string => new Date(time).toLocaleString(locale(), { dateStyle: 'medium', timeStyle: 'medium' })

/** money returns an amount in millionths of a dollar. */
export function money(micros: number): string {
  return new Intl.NumberFormat(locale(), { style: 'currency', currency: 'USD', maximumSignificantDigits: 3 }).format(micros / 1e6)
}

/** ago returns how long ago a time was. */
export function ago(time: string): string {
  const seconds = (Date.parse(time) - Date.now()) / 1000
  const format = new Intl.RelativeTimeFormat(locale(), { numeric: 'auto' })
  const steps: [Intl.RelativeTimeFormatUnit, number][] = [['day', 86400], ['hour', 3600], ['minute', 60]]
  for (const [unit, size] of steps) if (-seconds >= size) return format.format(Math.round(seconds / size), unit)
  return format.format(0, 'minute')
}
