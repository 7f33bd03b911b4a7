// Where context entries matched. An answer has a notice of them, which names entry, file, keyword and message.

import type { Message, Part } from '../store/types'

export interface Mark {
  entry: string
  keyword: string
}

const place = /(\S+) \([^;]*; ("(?:[^"\\]|\\.)*") in (?:the last message|message (\d+) from the end)\)/g

/** marksOf returns the keywords that brought in entries, by the id of the message that they are in. parts returns those of an answer. */
export function marksOf(path: Message[], parts: (m: Message) => Part[]): Record<string, Mark[]> {
  const all: Record<string, Mark[]> = {}
  path.forEach((m, i) => {
    if (m.role !== 'assistant') return
    for (const part of parts(m)) {
      if (part.type !== 'notice' || part.code !== 'context') continue
      for (const [, entry = '', quoted = '""', back = '1'] of (part.text ?? '').matchAll(place)) {
        const in_ = path[i - Number(back)]
        if (in_) (all[in_.id] ??= []).push({ entry, keyword: unquoted(quoted) })
      }
    }
  })
  return all
}

function unquoted(text: string): string {
  try {
    return JSON.parse(text)
  } catch {
    return text.slice(1, -1) // it has an escape that JSON has not
  }
}
