/**
 * The verbs of facts over any engine, each of them one round trip. What one says is sealed, and the
 * words that it is found by are named by the same keys: whoever gets at the database reads neither.
 */
import { digestText } from '../../core/text/digest.ts'
import { extractSearchTerms } from '../../core/text/search-terms.ts'
import type { Engine } from '../database/engine-interface.ts'
import { decodeColumn, encodeColumn, encodeNullableColumn } from '../database/escape-column-text.ts'
import type { FactRow } from '../database/table-row-types.ts'
import { writeAfterLock } from '../deletion/deletion-locks.ts'
import {
  createDeletionLogStatements,
  type DeletedFactKey,
} from '../deletion/deletion-log-statements.ts'
import type { DerivedDataOrigin } from '../deletion/derived-data-origin.ts'
import type { TermHasher } from '../encryption/cipher.ts'
import {
  NO_ENCRYPTION,
  readEncryptedRows,
  type RowReader,
  type RowEncryption,
} from '../encryption/read-encrypted-rows.ts'
import { encodeOwner, type OwnerKey } from '../owner.ts'
import type { FactWords } from './fact-keys.ts'
import { createFactStatements } from './fact-statements.ts'
import {
  isCoreFact,
  type FactSource,
  type FactStore,
  type StoredFact,
} from './fact-store-interface.ts'

export function createFactStore(engine: Engine, vault: RowEncryption = NO_ENCRYPTION): FactStore {
  const sql = createFactStatements(engine.language)
  const forgetting = createDeletionLogStatements(engine.language)
  const { namings } = vault.sealer
  const newest = namings[0] ?? PLAIN
  const factsIn = (rows: unknown, { tenant }: OwnerKey): readonly StoredFact[] =>
    readEncryptedRows(vault, tenant, (readingRows) =>
      (rows as readonly FactRow[]).flatMap((row) => factOf(row, readingRows) ?? []),
    )
  return {
    async saveFact(fact, work) {
      const [row, words] = rowsOf(fact, vault, newest)
      const inserts = [sql.insertFact(row), sql.insertWords(words)]
      if (work === undefined) {
        const [saved = []] = await engine.write(inserts)
        return saved.length > 0
      }
      const [saved = [], , forgotten = []] = await writeAfterLock(
        engine,
        'besideOthers',
        row.tenant,
        [...inserts, forgetting.removeFact(forgottenWith(row, work))],
      )
      return saved.length > 0 && forgotten.length === 0
    },
    async replaceFact(fact) {
      const [row, words] = rowsOf(fact, vault, newest)
      await engine.write([
        sql.updateFact({ ...row, user: words.user }),
        sql.removeWords(words),
        sql.insertWords(words),
      ])
    },
    async findFact(owner, id) {
      const key = encodeOwner(owner)
      const [rows = []] = await engine.read([sql.findFact({ ...key, id: encodeColumn(id) })])
      return factsIn(rows, key)[0] ?? null
    },
    async factsEnding(owner, ending) {
      if (!/^\w+$/.test(ending)) return []
      const key = encodeOwner(owner)
      const [rows = []] = await engine.read([sql.factsEnding({ ...key, id: ending })])
      return factsIn(rows, key)
    },
    async listFacts(owner, { after, order, limit }) {
      const key = encodeOwner(owner)
      const page = { ...key, after: encodeColumn(after ?? EDGES[order]), limit }
      const [rows = []] = await engine.read([sql.listFacts(order)(page)])
      return factsIn(rows, key)
    },
    async searchFacts(owner, { scopes, words, nowMs, limit }) {
      if (words.length === 0 || scopes.length === 0) return NOTHING
      const key = encodeOwner(owner)
      const byName = new Map(
        words.flatMap((word) =>
          namings.map((naming) => [nameOf(naming, key, word), word] as const),
        ),
      )
      const wanted = JSON.stringify([...byName.keys()])
      const search = { ...key, scopes: listed(scopes), words: wanted, nowMs, limit }
      const [rows = [], counted = [], [all] = []] = await engine.read([
        sql.searchFacts(search),
        sql.countWords(search),
        sql.countFacts(search),
      ])
      const counts = countsOf(counted as readonly WordCount[], byName)
      return {
        facts: factsIn(rows, key),
        countOf: (word) => counts.get(word) ?? 0,
        total: (all as { readonly facts: number } | undefined)?.facts ?? 0,
      }
    },
    async coreFacts(owner, { scopes, nowMs, limit }) {
      if (scopes.length === 0) return []
      const key = encodeOwner(owner)
      const search = { ...key, scopes: listed(scopes), nowMs, limit }
      const [rows = []] = await engine.read([sql.coreFacts(search)])
      return factsIn(rows, key)
    },
    async touchFacts(owner, ids, nowMs) {
      if (ids.length === 0) return
      const touch = { ids: listed(ids), nowMs, beforeMs: nowMs - HOUR_MS }
      await engine.write([sql.touchFacts({ ...encodeOwner(owner), ...touch })], 'kill')
    },
    async deleteFact(owner, id) {
      const [gone = []] = await engine.write([
        sql.deleteFact({ ...encodeOwner(owner), id: encodeColumn(id) }),
      ])
      return gone.length > 0
    },
    async deleteFacts(owner) {
      const [gone = []] = await engine.write([sql.deleteFacts(encodeOwner(owner))])
      return gone.length
    },
  }
}

const HOUR_MS = 60 * 60 * 1000

/** In front of all ids, and behind them. */
const EDGES = { asc: '', desc: 'fact_zzzzzzzzzzzzzzzzzzzzz' }

const PLAIN: TermHasher = { kid: '', name: (text) => text }

const NOTHING = { facts: [], countOf: () => 0, total: 0 }

function listed(texts: readonly string[]): string {
  return JSON.stringify(texts.map(encodeColumn))
}

/** A word of one owner has another name with the next one. */
function nameOf({ kid, name }: TermHasher, { tenant, user }: OwnerKey, word: string): string {
  return kid === '' ? word : name(JSON.stringify([tenant, user, word]))
}

interface WordCount {
  readonly word: string
  readonly facts: number
}

function countsOf(
  counted: readonly WordCount[],
  byName: ReadonlyMap<string, string>,
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { word: name, facts } of counted) {
    const word = byName.get(name) ?? name
    counts.set(word, (counts.get(word) ?? 0) + facts)
  }
  return counts
}

function rowsOf(
  fact: StoredFact,
  { sealer }: RowEncryption,
  naming: TermHasher,
): readonly [row: FactRow, words: FactWords] {
  const [id, tenant] = [encodeColumn(fact.id), encodeColumn(fact.tenant)]
  const { area, text, source } = fact
  const key = encodeOwner(fact)
  const { name, list } = indexFactText(text, key, naming)
  const row = {
    id,
    tenant,
    user_id: encodeNullableColumn(fact.user),
    scope: encodeColumn(fact.scope),
    body: sealer.seal(JSON.stringify({ area, text, source }), factRowLocation(id, tenant)),
    importance: fact.importance,
    core: isCoreFact(fact) ? 1 : 0,
    words: name,
    word_key: naming.kid,
    valid_until: fact.validUntilMs,
    created_at: fact.createdAtMs,
    changed_at: fact.changedAtMs,
    used_at: fact.usedAtMs,
    use_count: fact.useCount,
  }
  return [row, { ...key, id, name, words: list }]
}

function forgottenWith(
  { id, user_id }: FactRow,
  { begunAtMs, thread }: DerivedDataOrigin,
): DeletedFactKey {
  return { id, user_id, begunAtMs, of: encodeNullableColumn(thread) }
}

/** What an index has of a text: a name for all of its words together, and a list of their names. */
export function indexFactText(
  text: string,
  key: OwnerKey,
  naming: TermHasher,
): { readonly name: string; readonly list: string } {
  const words = extractSearchTerms(text)
  const all = nameOf(naming, key, words.toSorted().join(' '))
  return {
    name: naming.kid === '' ? digestText(all) : all,
    list: JSON.stringify(words.map((word) => nameOf(naming, key, word))),
  }
}

export function factRowLocation(id: string, tenant: string) {
  return { tenant, turnId: id, part: 'fact', position: 0 } as const
}

/** One that cannot be read is not there. */
function factOf(row: FactRow, { object }: RowReader): StoredFact | null {
  const body = object(row.body, factRowLocation(row.id, row.tenant))
  const { text, area, source } = body ?? {}
  if (typeof text !== 'string' || typeof area !== 'string') return null
  return {
    id: decodeColumn(row.id),
    tenant: decodeColumn(row.tenant),
    user: row.user_id === null ? null : decodeColumn(row.user_id),
    scope: decodeColumn(row.scope),
    area,
    text,
    importance: row.importance,
    validUntilMs: row.valid_until,
    createdAtMs: row.created_at,
    changedAtMs: row.changed_at,
    usedAtMs: row.used_at,
    useCount: row.use_count,
    source: (source ?? null) as FactSource | null,
  }
}
