/**
 * SQL implementation of `FactStore` for any engine. Each method takes one round trip. Texts are
 * encrypted, and search terms are hashed with the same keys, so that the database reveals neither.
 */
import { digestText } from '../../core/text/digest.ts'
import { extractSearchTerms } from '../../core/text/search-terms.ts'
import type { Engine } from '../database/engine-interface.ts'
import {
  decodeColumnText,
  decodeNullableColumnText,
  encodeColumnText,
  encodeNullableColumn,
} from '../database/encode-column-text.ts'
import { resolvePageStart } from '../database/resolve-page-start.ts'
import type { FactRow } from '../database/table-row-types.ts'
import { writeAfterLock } from '../deletion/deletion-locks.ts'
import {
  createDeletionLogStatements,
  type WrittenFactWithSource,
} from '../deletion/deletion-log-statements.ts'
import type { DerivedDataSource } from '../deletion/expiry-and-deletion-store-interface.ts'
import { locateText, type TermHasher } from '../encryption/cipher.ts'
import {
  NO_ENCRYPTION,
  decryptRows,
  type RowEncryption,
  type RowReader,
  type UndecryptableRule,
} from '../encryption/decrypt-rows.ts'
import { encodeOwnedRowKey, encodeOwner, type OwnerKey } from '../owner.ts'
import { createFactStatements, type FactTerms } from './fact-statements.ts'
import {
  isCoreFact,
  type FactSource,
  type FactStore,
  type StoredFact,
} from './fact-store-interface.ts'

export function createFactStore(
  engine: Engine,
  encryption: RowEncryption = NO_ENCRYPTION,
): FactStore {
  const sql = createFactStatements(engine.language)
  const deletionLog = createDeletionLogStatements(engine.language)
  const { termHashers } = encryption.cipher
  const currentHasher = termHashers[0] ?? PLAIN
  const decodeFacts = (
    rows: unknown,
    owner: OwnerKey,
    rule: UndecryptableRule = 'leave-out',
  ): readonly StoredFact[] =>
    decryptRows(
      encryption,
      owner,
      (reader) => (rows as readonly FactRow[]).flatMap((row) => decodeFact(row, reader) ?? []),
      { rule },
    )
  return {
    async saveFact(fact, derivedFrom) {
      const [row, words] = encodeFact(fact, encryption, currentHasher)
      const inserts = [sql.removeErased(row), sql.insertFact(row), sql.insertWords(words)]
      if (derivedFrom === undefined) {
        const [, saved = []] = await engine.write(inserts)
        return saved.length > 0
      }
      const [, saved = [], , deleted = []] = await writeAfterLock(
        engine,
        'derivedDataWrite',
        row.tenant,
        [...inserts, deletionLog.removeFact(encodeDeletedFactKey(row, derivedFrom))],
      )
      return saved.length > 0 && deleted.length === 0
    },
    async replaceFact(fact) {
      const [row, words] = encodeFact(fact, encryption, currentHasher)
      await engine.write([
        sql.updateFact({ ...row, user: words.user }),
        sql.removeWords(words),
        sql.insertWords(words),
      ])
    },
    async findFact(owner, id) {
      const key = encodeOwnedRowKey(owner, id)
      const [rows = []] = await engine.read([sql.findFact(key)])
      return decodeFacts(rows, key, 'fail')[0] ?? null
    },
    async findFactsByIdEnding(owner, ending) {
      if (!/^\w+$/.test(ending)) return []
      const key = encodeOwner(owner)
      const [rows = []] = await engine.read([sql.factsEnding({ ...key, id: ending })])
      return decodeFacts(rows, key)
    },
    async listFacts(owner, { after, order, limit }) {
      const key = encodeOwner(owner)
      const page = { ...key, after: encodeColumnText(resolvePageStart(after, order)), limit }
      const [rows = []] = await engine.read([sql.listFacts(order)(page)])
      return decodeFacts(rows, key, 'fail')
    },
    async searchFacts(owner, { scopes, words, nowMs, limit, rule }) {
      if (words.length === 0 || scopes.length === 0) return NO_FACTS
      const key = encodeOwner(owner)
      const termsByHash = new Map(
        words.flatMap((word) =>
          termHashers.map((hasher) => [hashTerm(hasher, key, word), word] as const),
        ),
      )
      const wanted = JSON.stringify([...termsByHash.keys()])
      const search = { ...key, scopes: encodeList(scopes), termHashes: wanted, nowMs, limit }
      const [rows = [], counted = [], [all] = []] = await engine.read([
        sql.searchFacts(search),
        sql.countWords(search),
        sql.countFacts(search),
      ])
      const counts = countByTerm(counted as readonly WordCount[], termsByHash)
      return {
        facts: decodeFacts(rows, key, rule),
        countFactsWith: (word) => counts.get(word) ?? 0,
        factCount: (all as { readonly facts: number } | undefined)?.facts ?? 0,
      }
    },
    async listCoreFacts(owner, { scopes, nowMs, limit }) {
      if (scopes.length === 0) return []
      const key = encodeOwner(owner)
      const search = { ...key, scopes: encodeList(scopes), nowMs, limit }
      const [rows = []] = await engine.read([sql.coreFacts(search)])
      return decodeFacts(rows, key)
    },
    async touchFacts(owner, ids, nowMs) {
      if (ids.length === 0) return
      const touch = { ids: encodeList(ids), nowMs, usedBeforeMs: nowMs - HOUR_MS }
      await engine.write([sql.touchFacts({ ...encodeOwner(owner), ...touch })], 'kill')
    },
    async deleteFact(owner, id) {
      const [deleted = []] = await engine.write([sql.deleteFact(encodeOwnedRowKey(owner, id))])
      return deleted.length > 0
    },
    async deleteFacts(owner) {
      const [deleted = []] = await engine.write([sql.deleteFacts(encodeOwner(owner))])
      return deleted.length
    },
  }
}

const HOUR_MS = 60 * 60 * 1000

const PLAIN: TermHasher = { keyId: '', hash: (text) => text }

const NO_FACTS = { facts: [], countFactsWith: () => 0, factCount: 0 }

function encodeList(texts: readonly string[]): string {
  return JSON.stringify(texts.map(encodeColumnText))
}

/**
 * Hashes a term together with its owner, so that the same term of two owners has different hashes.
 */
function hashTerm({ keyId, hash }: TermHasher, { tenant, user }: OwnerKey, word: string): string {
  return keyId === '' ? word : hash(JSON.stringify([tenant, user, word]))
}

interface WordCount {
  readonly word: string
  readonly facts: number
}

function countByTerm(
  counted: readonly WordCount[],
  termsByHash: ReadonlyMap<string, string>,
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { word: hash, facts } of counted) {
    const word = termsByHash.get(hash) ?? hash
    counts.set(word, (counts.get(word) ?? 0) + facts)
  }
  return counts
}

function encodeFact(
  fact: StoredFact,
  { cipher }: RowEncryption,
  hasher: TermHasher,
): readonly [row: FactRow, words: FactTerms] {
  const [id, tenant] = [encodeColumnText(fact.id), encodeColumnText(fact.tenant)]
  const { area, text, source } = fact
  const key = encodeOwner(fact)
  const index = indexFactText(text, key, hasher)
  const row = {
    id,
    tenant,
    user_id: encodeNullableColumn(fact.user),
    scope: encodeColumnText(fact.scope),
    body: cipher.encrypt(JSON.stringify({ area, text, source }), locateText(key, id, 'fact')),
    importance: fact.importance,
    core: isCoreFact(fact) ? 1 : 0,
    words: index.allTermsHash,
    word_key: hasher.keyId,
    valid_until: fact.validUntilMs,
    created_at: fact.createdAtMs,
    changed_at: fact.changedAtMs,
    used_at: fact.usedAtMs,
    use_count: fact.useCount,
  }
  return [row, { ...key, ...index, id }]
}

function encodeDeletedFactKey(
  { id, user_id }: FactRow,
  { jobStartedAtMs, thread }: DerivedDataSource,
): WrittenFactWithSource {
  return { id, user_id, jobStartedAtMs, sourceId: encodeNullableColumn(thread) }
}

/**
 * Returns the index entries of a text: one hash of all terms together, and the hash of each term.
 */
export function indexFactText(
  text: string,
  key: OwnerKey,
  hasher: TermHasher,
): Pick<FactTerms, 'allTermsHash' | 'termHashes'> {
  const words = extractSearchTerms(text)
  const all = hashTerm(hasher, key, words.toSorted().join(' '))
  return {
    allTermsHash: hasher.keyId === '' ? digestText(all) : all,
    termHashes: JSON.stringify(words.map((word) => hashTerm(hasher, key, word))),
  }
}

/** Decodes a fact; returns `null` if it cannot be decrypted. */
function decodeFact(row: FactRow, { decryptObject }: RowReader): StoredFact | null {
  const body = decryptObject(row.body, { rowId: row.id, part: 'fact', position: 0 })
  const { text, area, source } = body ?? {}
  if (typeof text !== 'string' || typeof area !== 'string') return null
  return {
    id: decodeColumnText(row.id),
    tenant: decodeColumnText(row.tenant),
    user: decodeNullableColumnText(row.user_id),
    scope: decodeColumnText(row.scope),
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
