// Notices of the browser about questions that wait while the page is hidden. They name the tool, never its arguments: a notice
// stands on locked screens too.

import { t } from '../services/locale.svelte'
import { questions } from './questions.svelte'

const stored = 'collie.notices'
const there = 'Notification' in globalThis

class Notices {
  /** can: this browser shows notices, and the person has not refused them. */
  can = $state(there && Notification.permission !== 'denied')
  on = $state(there && Notification.permission === 'granted' && localStorage.getItem(stored) === 'on')
}

export const notices = new Notices()

/** turn switches notices on or off. On asks the browser for leave, which it gives after a click alone. */
export async function turn(on: boolean): Promise<void> {
  if (on && (await Notification.requestPermission()) !== 'granted') {
    notices.can = Notification.permission !== 'denied'
    on = false
  }
  notices.on = on
  localStorage.setItem(stored, on ? 'on' : 'off')
}

/** watch shows a notice of each new question while the page is hidden; answer is called when it is clicked. It runs as an effect. */
export function watch(answer: () => void): void {
  const seen = new Set<string>()
  $effect(() => {
    for (const q of questions.open) {
      if (seen.has(q.id)) continue
      seen.add(q.id)
      if (!notices.on || !document.hidden) continue
      const notice = new Notification(t('Collie waits for your answer'), { body: `${q.question.tool} ${q.question.action}`, tag: q.id })
      notice.onclick = () => {
        window.focus()
        answer()
        notice.close()
      }
    }
  })
}
