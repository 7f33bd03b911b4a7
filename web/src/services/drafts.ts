// What the person was typing, by conversation. It lies in this browser alone, in IndexedDB.

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
  const text = await run<unknown>('readonly', (drafts) => drafts.get(session || 'new'))
  return typeof text === 'string' ? text : ''
}

/** keep keeps a text, or forgets it where it is empty. */
export async function keep(session: string, text: string): Promise<void> {
  const key = session || 'new'
  await run<unknown>('readwrite', (drafts) => (text ? drafts.put(text, key) : drafts.delete(key)) as IDBRequest<unknown>)
}
