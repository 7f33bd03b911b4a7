// What waits for a person: calls of conversations, and calls of other programs.

import { call } from '../services/api'
import { attempt, gateway, on, soon, whenConnected } from './gateway.svelte'
import type { Question } from './types'

class Questions {
  open: Question[] = $state([])
}

export const questions = new Questions()

let again = 0

export async function loadQuestions(): Promise<void> {
  questions.open = (await call<{ questions: Question[] }>('GET', '/questions')).questions
  clearTimeout(again)
  // The calls of other programs may be answered in another process, or run out: nobody tells.
  if (questions.open.some((q) => !q.sessionId)) again = window.setTimeout(() => gateway.connected && void attempt(loadQuestions), 2000)
}

export async function answerQuestion(q: Question, yes: boolean, name: string, grant = ''): Promise<void> {
  try {
    await call('POST', `/questions/${encodeURIComponent(q.id)}`, { yes, name, ...(grant && { grant }) })
  } finally {
    await loadQuestions() // also where somebody else was quicker
  }
}

/** fillIn answers the form of a server, or declines it. */
export async function fillIn(q: Question, yes: boolean, content: Record<string, unknown>): Promise<void> {
  try {
    await call('POST', `/questions/${encodeURIComponent(q.id)}`, yes && !q.form?.url ? { yes, content } : { yes })
  } finally {
    await loadQuestions()
  }
}

for (const kind of ['questions', 'person.asked', 'person.answered', 'call.done']) on(kind, () => soon(loadQuestions))
whenConnected(loadQuestions)
