// What the person was typing, and how they left a conversation. It lies in this browser alone, in IndexedDB.

let opened: Promise<IDBDatabase> | null = null

function open(): Promise<IDBDatabase> {
  return (opened ??= new Promise((done, fail) => {
    const request = indexedDB.open('collie', 1)
    request.onupgradeneeded = () => request.result.createObjectStore('drafts')
    request.onsuccess = () => done(request.result)
    request.onerror = () => fail(request.error)
  }))
}

async function run<T>(mode: IDBTransactionMode, f: (drafts: IDBObjectStore) => IDBRequest<T>): Promise<T | undefined> {
  try {
    const db = await open()
    return await new Promise<T>((done, fail) => {
      const request = f(db.transaction('drafts', mode).objectStore('drafts'))
      request.onsuccess = () => done(request.result)
      request.onerror = () => fail(request.error)
    })
  } catch {
    return undefined // a private window may have no storage: then nothing is kept
  }
}

/** draft is the text for a session; empty names the one that is not there yet. */
export async function draft(session: string): Promise<string> {
  const key = session || 'new'
  const text = sessionStorage.getItem(key) ?? (await run<unknown>('readonly', (drafts) => drafts.get(key)))
  return typeof text === 'string' ? text : ''
}

/** keep keeps a text, or forgets it where it is empty. A page that is reloaded at once has not written it to IndexedDB yet; until that is done it lies in the storage of the tab. */
export async function keep(session: string, text: string): Promise<void> {
  const key = session || 'new'
  try {
    sessionStorage.setItem(key, text)
  } catch {
    sessionStorage.removeItem(key) // too long for it; what lies there is older
  }
  await run<unknown>('readwrite', (drafts) => (text ? drafts.put(text, key) : drafts.delete(key)) as IDBRequest<unknown>)
  if (sessionStorage.getItem(key) === text) sessionStorage.removeItem(key)
}

const longest = 90 * 24 * 3600_000 // milliseconds that something is remembered without being used

/** remember keeps something about a conversation: where it was scrolled to, what was folded. */
export async function remember(kind: string, session: string, value: unknown): Promise<void> {
  await run<unknown>('readwrite', (drafts) => drafts.put({ at: Date.now(), value }, `${kind}:${session}`) as IDBRequest<unknown>)
}

/** recall returns what was kept; undefined where nothing was. */
export async function recall<T>(kind: string, session: string): Promise<T | undefined> {
  const kept = await run<any>('readonly', (drafts) => drafts.get(`${kind}:${session}`))
  return kept?.value as T | undefined
}

/** forgetOld deletes what has not been used for long. */
export async function forgetOld(): Promise<void> {
  const keys = (await run('readonly', (drafts) => drafts.getAllKeys())) ?? []
  for (const key of keys.filter((k) => String(k).includes(':'))) {
    const kept = await run<any>('readonly', (drafts) => drafts.get(key))
    if (kept?.at < Date.now() - longest) await run<unknown>('readwrite', (drafts) => drafts.delete(key) as IDBRequest<unknown>)
  }
}

/** forget deletes all that was kept about a conversation. */
export async function forget(session: string): Promise<void> {
  for (const kind of ['folds', 'scroll']) await run<unknown>('readwrite', (drafts) => drafts.delete(`${kind}:${session}`) as IDBRequest<unknown>)
  await keep(session, '')
}
