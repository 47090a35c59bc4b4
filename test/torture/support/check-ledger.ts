/**
 * Compares a gateway with the ledger: everything acknowledged is there, once and unchanged, nothing deleted has
 * come back, and every answer has ended in one state.
 */
import type { Faults } from './fault-list.ts'
import type { Ledger, LedgerEntry } from './ledger.ts'
import { PATHS, questionText } from './mixed-load.ts'
import { forEachParallel, pause } from './pause.ts'

export interface LedgerCheck {
  readonly url: string
  readonly entries: readonly LedgerEntry[]
  readonly faults: Faults
  /** How long open answers may take to end, and the gateway to serve again. */
  readonly patienceMs: number
  /**
   * True if the database itself crashed. It may forget answers that were not complete: their opening survives the
   * end of the gateway only (src/decisions/0002-durable-before-announced.md).
   */
  readonly mayForgetOpen?: boolean
}

export async function checkLedger(check: LedgerCheck): Promise<void> {
  const deadline = performance.now() + check.patienceMs
  await forEachParallel(check.entries, 8, (entry) => CHECKS[entry.kind](check, entry, deadline))
}

/** Reports texts that are in two stored chats: a chat that was stored twice has two ids. */
export async function checkChatsAreUnique(
  url: string,
  { entries }: Ledger,
  faults: Faults,
): Promise<void> {
  const seen = new Set<string>()
  for (let after = ''; ;) {
    const page = (await (await fetch(`${url}/v1/chat/completions?limit=100${after}`)).json()) as {
      readonly data: readonly { readonly id: string; readonly choices: readonly Choice[] }[]
      readonly has_more: boolean
      readonly last_id: string
    }
    for (const { id, choices } of page.data) {
      const text = choices[0]?.message.content ?? ''
      if (seen.has(text)) faults.add('duplicated', `${text} is in ${id} and in another chat`)
      seen.add(text)
    }
    if (!page.has_more) break
    after = `&after=${page.last_id}`
  }
  const chats = entries.filter(({ kind, state }) => kind === 'chat' && state === 'acknowledged')
  for (const { id, texts } of chats) {
    if (!seen.has(texts[0]?.text ?? '')) faults.add('lost', `${id} is not in the list of chats`)
  }
}

interface Choice {
  readonly message: { readonly content: string }
}

type Check = (check: LedgerCheck, entry: LedgerEntry, deadline: number) => Promise<void>

const CHECKS: Readonly<Record<LedgerEntry['kind'], Check>> = {
  async response(check, entry, deadline) {
    let found = await load(check, entry, '', deadline)
    while (isOpen(found) && performance.now() < deadline) {
      await pause(50)
      found = await load(check, entry, '', deadline)
    }
    if (found === null) return
    const { faults } = check
    const { status, output } = found as { readonly status: string; readonly output: unknown[] }
    if (isOpen(found)) return faults.add('unended', `${entry.id} is still ${status}`)
    if (entry.finalStatus !== null && entry.finalStatus !== status) {
      return faults.add('changed', `${entry.id} was ${entry.finalStatus} and is ${status}`)
    }
    entry.finalStatus = status
    const texts = output.flatMap(readItemText)
    const expected = entry.texts.map(({ text }) => text)
    if (status === 'completed' && texts.join('|') !== expected.join('|')) {
      const kind = texts.length > expected.length ? 'duplicated' : 'lost'
      return faults.add(kind, `${entry.id} has "${texts.join('|')}", not "${expected.join('|')}"`)
    }
    if (status !== 'completed' && entry.state === 'acknowledged') {
      faults.add('lost', `${entry.id} was complete and is ${status}`)
    }
  },
  async chat(check, entry, deadline) {
    const found = await load(check, entry, '', deadline)
    if (found === null) return
    const [choice] = (found as { readonly choices: readonly Choice[] }).choices
    const expected = entry.texts[0]?.text
    if (choice?.message.content === expected) return
    check.faults.add('lost', `${entry.id} has "${choice?.message.content}", not "${expected}"`)
  },
  async conversation(check, entry, deadline) {
    const counts = new Map<string, number>()
    for (let after = ''; ;) {
      const page = (await load(check, entry, `/items?order=asc&limit=100${after}`, deadline)) as {
        readonly data: readonly unknown[]
        readonly has_more: boolean
        readonly last_id: string
      } | null
      if (page === null) return
      for (const text of page.data.flatMap(readItemText)) {
        counts.set(text, (counts.get(text) ?? 0) + 1)
      }
      if (!page.has_more) break
      after = `&after=${page.last_id}`
    }
    for (const { text, isCertain } of entry.texts) {
      const count = counts.get(text) ?? 0
      const questions = counts.get(questionText(text)) ?? 0
      if (isCertain && count === 0) check.faults.add('lost', `"${text}" of ${entry.id}`)
      if (count > 1 || questions > 1) check.faults.add('duplicated', `"${text}" in ${entry.id}`)
    }
  },
}

function isOpen(found: unknown): boolean {
  const { status } = (found ?? {}) as { readonly status?: unknown }
  return status === 'queued' || status === 'in_progress'
}

/** Returns null if the object is gone; that is a fault unless it was deleted. */
async function load(
  { url, faults, mayForgetOpen = false }: LedgerCheck,
  entry: LedgerEntry,
  more: string,
  deadline: number,
): Promise<unknown> {
  const { id, kind, state } = entry
  for (;;) {
    const response = await fetch(`${url}/v1${PATHS[kind]}/${id}${more}`)
    const text = await response.text()
    if (response.status === 503 && performance.now() < deadline) {
      await pause(50)
      continue
    }
    const isGone = response.status === 404
    if (response.status === 200) {
      if (state === 'deleted') faults.add('returned', `${id} was deleted`)
      return JSON.parse(text)
    }
    const mayBeGone = state.startsWith('delet') || (mayForgetOpen && state !== 'acknowledged')
    if (!isGone) faults.add('failed', `GET ${id}: status ${response.status}: ${text.slice(0, 300)}`)
    else if (!mayBeGone) faults.add('lost', `${id} (${state}) is not found`)
    return null
  }
}

function readItemText(item: unknown): readonly string[] {
  const { type, content } = item as {
    readonly type: string
    readonly content?: readonly { readonly text?: string }[]
  }
  return type === 'message' ? [(content ?? []).map(({ text }) => text ?? '').join('')] : []
}
