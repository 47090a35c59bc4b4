/** Checks that no query about media scans a whole table. */
import type { Engine, SqlQuery } from '../../../src/store/database/engine-interface.ts'
import { createExpiryAndDeletionStatements } from '../../../src/store/deletion/expiry-and-deletion-statements.ts'
import { createMediaStatements } from '../../../src/store/media/media-statements.ts'
import { createMediaReleaseStatements } from '../../../src/store/media/media-release-statements.ts'
import { expectIndexes } from '../expect-indexes.ts'

function queriesFor(language: Engine['language']): Readonly<Record<string, SqlQuery>> {
  const media = createMediaStatements(language)
  const release = createMediaReleaseStatements(language)
  const thread = { tenant: 't', user: null, turnId: '7' }
  const deleted = { tenant: 't', user: '', id: '7' }
  const wanted = { tenant: 't', ids: '["7","8"]' }
  const sweep = { mark: -7 }
  const medium = { id: '7', tenant: 't', mime: 'image/png', chars: 1, turnId: '7' }
  return {
    insertMediumOfTurn: media.insertMediumOfTurn(medium),
    insertPiece: media.insertPiece({
      media_id: '7',
      position: 1,
      tenant: 't',
      body: 'x',
      keyPrefixChars: 1,
    }),
    insertUse: media.insertUse(medium),
    pieces: media.selectPieces(wanted),
    addresses: media.selectAddresses(wanted),
    touchAddresses: media.touchAddresses({ ...wanted, nowMs: 100, dayAgoMs: 50 }),
    insertAddress: media.insertAddress({
      id: '9',
      tenant: 't',
      user: 'u',
      thread: '7',
      mediaId: '7',
      mime: 'image/png',
      nowMs: 1,
    }),
    releaseLoadedOfThread: release.ofThread.releaseFetched(thread),
    removeAddressesOfThread: release.ofThread.removeAddresses(thread),
    releaseShownOfDeleted: release.ofDeleted.releaseUsed(deleted),
    releaseLoadedOfDeleted: release.ofDeleted.releaseFetched(deleted),
    removeAddressesOfDeleted: release.ofDeleted.removeAddresses(deleted),
    releaseLoadedOfConversation: release.ofConversation.releaseFetched(deleted),
    removeAddressesOfConversation: release.ofConversation.removeAddresses(deleted),
    releaseLoadedUnused: release.unused.releaseFetched({ unusedSinceMs: 50, limit: 3 }),
    removeAddressesUnused: release.unused.removeAddresses({ unusedSinceMs: 50, limit: 3 }),
    releaseMediaOfUnused: createExpiryAndDeletionStatements(language).releaseMediaOfUnused('all')({
      unusedSinceMs: 50,
      turnIds: '["7","8"]',
    }),
    releaseIfUnused: media.releaseIfUnused({ id: '7' }),
    lockReleased: release.lockReleased(sweep),
    removePieces: release.removePieces(sweep),
    removeReleased: release.removeReleased(sweep),
    unmarkOthers: release.unmarkOthers(sweep),
  }
}

async function fill(engine: Engine): Promise<void> {
  const inserts = [
    `insert into turns (id, tenant, thread, dialect, wire, account, model, state, created_at,
      used_at, request, short_lived)
      select n, 't', n, 'chat', 'w', 'a', 'm', 'complete', n, n, '{}', 0
      from generate_series(1, 3000) n`,
    `insert into media (id, tenant, mime, chars, created_at, used_at)
      select n, 't', 'image/png', 10, n, n from generate_series(1, 3000) n`,
    `insert into media_pieces (media_id, position, tenant, body)
      select n, 0, 't', 'x' from generate_series(1, 3000) n`,
    `insert into media_uses (media_id, turn_id) select n, n from generate_series(1, 3000) n`,
    `insert into media_addresses (id, tenant, media_id, mime, fetched_at, used_at)
      select n, 't', n, 'image/png', n, n from generate_series(1, 3000) n`,
  ]
  await engine.write(inserts.map((sql) => ({ name: null, sql, parameters: [] })))
}

expectIndexes({ queriesFor, own: 'deletable|page|wanted|limited|sized|\\(subquery', fill })
