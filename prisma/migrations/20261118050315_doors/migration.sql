-- AlterTable
ALTER TABLE "agent" ADD COLUMN     "last_seen_at" TIMESTAMPTZ(3),
ADD COLUMN     "token_hash" BYTEA,
ADD COLUMN     "token_prefix" TEXT;

-- AlterTable
ALTER TABLE "task" ADD COLUMN     "acknowledged" BOOLEAN NOT NULL DEFAULT false;

-- AlterTable
ALTER TABLE "delivery" ADD COLUMN     "confirmed_at" TIMESTAMPTZ(3);

-- CreateTable
CREATE TABLE "agent_load" (
    "agent_id" UUID NOT NULL,
    "version" BIGINT NOT NULL,

    CONSTRAINT "agent_load_pkey" PRIMARY KEY ("agent_id")
);

-- CreateTable
CREATE TABLE "connection" (
    "id" UUID NOT NULL,
    "agent_id" UUID NOT NULL,
    "boot_id" UUID NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "connection_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "connection_agent_id_idx" ON "connection"("agent_id");

-- CreateIndex
CREATE INDEX "connection_boot_id_idx" ON "connection"("boot_id");

-- CreateIndex
CREATE UNIQUE INDEX "agent_token_hash_key" ON "agent"("token_hash");

-- CreateIndex
CREATE INDEX "agent_token_prefix_idx" ON "agent"("token_prefix") WHERE (token_prefix IS NOT NULL);

-- CreateIndex
CREATE INDEX "context_network_id_created_at_key_idx" ON "context"("network_id", "created_at", "key");

-- CreateIndex
CREATE INDEX "lane_agent_id_running_idx" ON "lane"("agent_id") WHERE (running IS NOT NULL);

-- CreateIndex
CREATE INDEX "task_user_id_created_at_key_idx" ON "task"("user_id", "created_at", "key");

-- AddForeignKey
ALTER TABLE "connection" ADD CONSTRAINT "connection_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agent"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "connection" ADD CONSTRAINT "connection_boot_id_fkey" FOREIGN KEY ("boot_id") REFERENCES "instance"("boot_id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What Prisma cannot say

ALTER TABLE "agent" ADD CONSTRAINT "agent_token_check" CHECK (("token_hash" IS NULL) = ("token_prefix" IS NULL));

-- No hub that called it was ever released.
DROP FUNCTION "flush_v1";

-- The writer's one statement: commits a batch of decided commands, without a transaction held open from outside.
-- Rows carry `grp`: rows of a group are written together or not at all. Returns the groups that were missed, because a
-- head has moved on since they were decided, or an account cannot cover them. Locks are taken in one order: contexts,
-- lanes, loads, tasks, accounts, each by key.
CREATE FUNCTION "flush_v2"(
  writer bigint, flush_id uuid, is_repeat boolean, feed_epoch int, decided_at timestamptz, default_ttl_seconds int,
  lanes json, heads json, births json, messages json, deliveries json, waits json, deadlines json, details json, artifacts json,
  loads json, accounts json, charges json, confirmations json,
  e_grp int[], e_task uuid[], e_seq int[], e_first_seq int[], e_kind text[], e_from text[], e_to text[], e_actor text[], e_payload text[]
) RETURNS int[] LANGUAGE plpgsql AS $$
DECLARE missed int[] := '{}'; more int[]; fresh_contexts uuid[] := '{}'; fresh_tasks uuid[];
BEGIN
  -- A flush whose connection broke is repeated on a new one. It waits here until the first try has ended; if that was
  -- committed, it only says which groups were missed then, or are harmless to decide again.
  PERFORM pg_advisory_xact_lock(writer);
  IF is_repeat AND EXISTS (SELECT FROM feed WHERE flush = flush_id) THEN
    SELECT coalesce(array_agg(g.grp), '{}') INTO missed FROM (
      SELECT t.grp, bool_or(feed.flush IS NOT NULL) AS written
      FROM (
        SELECT * FROM json_to_recordset(heads) h(grp int, key uuid)
        UNION ALL SELECT * FROM json_to_recordset(births) b(grp int, key uuid)
      ) t LEFT JOIN feed ON feed.flush = flush_id AND feed.task_key = t.key GROUP BY t.grp
    ) g WHERE NOT g.written;
    RETURN missed;
  END IF;

  -- 1. lock, compare with what was decided on
  IF json_array_length(births) > 0 THEN
    WITH used AS (
      INSERT INTO context (key, network_id, owner_id, id, created_at, updated_at)
        SELECT DISTINCT ON (b.context) b.context, b.network, b."user", b.context_id, decided_at, decided_at
        FROM json_to_recordset(births) b(context uuid, network uuid, "user" uuid, context_id text)
        ORDER BY b.context ON CONFLICT (key) DO UPDATE SET updated_at = excluded.updated_at RETURNING key, xmax = 0 AS is_fresh
    )
    SELECT coalesce(array_agg(key), '{}') INTO fresh_contexts FROM used WHERE is_fresh;
  END IF;
  IF json_array_length(lanes) > 0 THEN
    INSERT INTO lane (agent_id, context_key, version, waiting)
      SELECT l.agent, l.context, l.expected, 0 FROM json_to_recordset(lanes) l(agent uuid, context uuid, expected bigint, fresh boolean)
      WHERE l.fresh ORDER BY l.agent, l.context ON CONFLICT DO NOTHING;
    SELECT coalesce(array_agg(l.grp), '{}') INTO missed
      FROM json_to_recordset(lanes) l(grp int, agent uuid, context uuid, expected bigint)
      LEFT JOIN (
        SELECT agent_id, context_key, version FROM lane
        WHERE (agent_id, context_key) IN (SELECT l.agent, l.context FROM json_to_recordset(lanes) l(agent uuid, context uuid))
        ORDER BY agent_id, context_key FOR NO KEY UPDATE
      ) locked ON locked.agent_id = l.agent AND locked.context_key = l.context
      WHERE locked.version IS DISTINCT FROM l.expected;
  END IF;
  IF json_array_length(loads) > 0 THEN
    INSERT INTO agent_load (agent_id, version) SELECT l.agent, 0 FROM json_to_recordset(loads) l(agent uuid)
      ORDER BY l.agent ON CONFLICT DO NOTHING;
    SELECT array_agg(l.grp) INTO more
      FROM json_to_recordset(loads) l(grp int, agent uuid, expected bigint)
      LEFT JOIN (
        SELECT agent_id, version FROM agent_load WHERE agent_id = ANY (SELECT l.agent FROM json_to_recordset(loads) l(agent uuid))
        ORDER BY agent_id FOR NO KEY UPDATE
      ) locked ON locked.agent_id = l.agent
      WHERE locked.version IS DISTINCT FROM l.expected;
    missed := missed || coalesce(more, '{}');
  END IF;
  IF json_array_length(heads) > 0 THEN
    SELECT array_agg(h.grp) INTO more
      FROM json_to_recordset(heads) h(grp int, key uuid, expected int)
      LEFT JOIN (
        SELECT key, last_seq FROM task WHERE key = ANY (SELECT h.key FROM json_to_recordset(heads) h(key uuid))
        ORDER BY key FOR NO KEY UPDATE
      ) locked ON locked.key = h.key
      WHERE locked.last_seq IS DISTINCT FROM h.expected;
    missed := missed || coalesce(more, '{}');
  END IF;
  IF json_array_length(accounts) > 0 THEN
    PERFORM FROM account WHERE id = ANY (SELECT a.account FROM json_to_recordset(accounts) a(account uuid))
      ORDER BY id FOR NO KEY UPDATE;
    -- What is taken is summed in order. What is given back in this flush counts from the next one on.
    SELECT array_agg(a.grp) INTO more FROM (
      SELECT a.grp, a.held - a.balance AS taken, account.balance - account.held AS available,
        sum(greatest(a.held - a.balance, 0)) OVER (PARTITION BY a.account ORDER BY a.n) AS taken_so_far
      FROM (
        SELECT row_number() OVER () AS n, a.* FROM json_to_recordset(accounts) a(grp int, account uuid, balance numeric, held numeric)
        WHERE a.grp <> ALL (missed)
      ) a LEFT JOIN account ON account.id = a.account
    ) a WHERE a.taken > 0 AND a.taken_so_far > coalesce(a.available, 0);
    missed := missed || coalesce(more, '{}');
  END IF;

  -- 2. inserts that may meet a rival; who comes second is missed, and what of it was inserted is taken back
  IF json_array_length(births) > 0 THEN
    WITH born AS (
      INSERT INTO task (key, network_id, id, context_key, user_id, requester_id, requester_is_agent, requester_name, agent_id,
          agent_name, skill_id, parent_key, root_key, depth, priority, state, run, last_seq, generation, delivery, delivery_state,
          last_n, rank, attempts, turn_seq, ttl_seconds, timeout_seconds, created_at, updated_at, status_at)
        SELECT b.key, b.network, b.id, b.context, b."user", b.requester, b.requester_is_agent, b.requester_name, b.agent,
          b.agent_name, b.skill, b.parent, b.root, b.depth, b.priority, 'SUBMITTED', 1, 1, 1, 1, 'QUEUED',
          0, 0, 0, 0, b.ttl_seconds, b.timeout_seconds, decided_at, decided_at, decided_at
        FROM json_to_recordset(births) b(grp int, key uuid, network uuid, id uuid, context uuid, "user" uuid, requester uuid,
          requester_is_agent boolean, requester_name text, agent uuid, agent_name text, skill text, parent uuid, root uuid,
          depth int, priority priority, ttl_seconds int, timeout_seconds int)
        WHERE b.grp <> ALL (missed) ORDER BY b.key ON CONFLICT DO NOTHING RETURNING key
    )
    SELECT array_agg(b.grp) FILTER (WHERE born.key IS NULL), array_agg(born.key) INTO more, fresh_tasks
      FROM json_to_recordset(births) b(grp int, key uuid) LEFT JOIN born ON born.key = b.key WHERE b.grp <> ALL (missed);
    IF more IS NOT NULL THEN
      -- Only what was born here: a task of that key may have been there before, when a lost flush arrives late.
      DELETE FROM task USING json_to_recordset(births) b(grp int, key uuid)
        WHERE task.key = b.key AND b.grp = ANY (more) AND task.key = ANY (fresh_tasks);
      missed := missed || more;
    END IF;
  END IF;
  IF json_array_length(messages) > 0 THEN
    WITH written AS (
      INSERT INTO message (task_key, seq, network_id, id, author, author_name, kind, parts, in_reply_to, metadata, created_at)
        SELECT m.task, m.seq, m.network, m.id, m.author, m.author_name, m.kind, m.parts, m.in_reply_to, m.metadata, decided_at
        FROM json_to_recordset(messages) m(grp int, task uuid, seq int, network uuid, id uuid, author author, author_name text,
          kind message_kind, parts json, in_reply_to uuid, metadata json)
        WHERE m.grp <> ALL (missed) ORDER BY m.network, m.id ON CONFLICT DO NOTHING RETURNING task_key, seq
    )
    SELECT array_agg(m.grp) INTO more FROM json_to_recordset(messages) m(grp int, task uuid, seq int)
      WHERE m.grp <> ALL (missed) AND NOT EXISTS (SELECT FROM written w WHERE w.task_key = m.task AND w.seq = m.seq);
    IF more IS NOT NULL THEN
      DELETE FROM message USING json_to_recordset(messages) m(grp int, task uuid, seq int, id uuid)
        WHERE message.task_key = m.task AND message.seq = m.seq AND message.id = m.id AND m.grp = ANY (more);
      DELETE FROM task USING json_to_recordset(births) b(grp int, key uuid) WHERE task.key = b.key AND b.grp = ANY (more);
      missed := missed || more;
    END IF;
  END IF;

  -- 3. nothing of the rest can meet anybody
  UPDATE task SET state = h.state, reason = CASE WHEN h.moved THEN h.reason ELSE task.reason END, run = h.run, last_seq = h.seq, generation = h.generation, delivery = h.delivery,
      delivery_state = h.delivery_state, holder = h.holder, last_n = h.last_n, rank = h.rank, attempts = h.attempts, acknowledged = h.acknowledged, turn_seq = h.turn_seq,
      agent_id = h.agent, agent_name = h.agent_name, updated_at = decided_at,
      status_at = CASE WHEN h.moved THEN decided_at ELSE task.status_at END,
      delivered_at = CASE WHEN h.run <> task.run THEN NULL WHEN h.delivery_state = 'QUEUED' THEN task.delivered_at ELSE coalesce(task.delivered_at, decided_at) END,
      started_at = CASE WHEN h.run <> task.run THEN NULL WHEN h.started THEN coalesce(task.started_at, decided_at) ELSE task.started_at END,
      finished_at = CASE WHEN h.finished THEN coalesce(task.finished_at, decided_at) END
    FROM (
      SELECT * FROM json_to_recordset(heads) h(grp int, key uuid, state task_state, reason text, run int, seq int, generation int,
        delivery int, delivery_state delivery_state, holder uuid, last_n int, rank bigint, attempts int, acknowledged boolean, turn_seq int, agent uuid,
        agent_name text, moved boolean, started boolean, finished boolean)
      UNION ALL
      SELECT * FROM json_to_recordset(births) b(grp int, key uuid, state task_state, reason text, run int, seq int, generation int,
        delivery int, delivery_state delivery_state, holder uuid, last_n int, rank bigint, attempts int, acknowledged boolean, turn_seq int, agent uuid,
        agent_name text, moved boolean, started boolean, finished boolean)
    ) h
    WHERE task.key = h.key AND h.seq <> task.last_seq AND h.grp <> ALL (missed); -- a head may only be looked at

  INSERT INTO event (task_key, seq, first_seq, kind, "from", "to", actor, at, payload)
    SELECT e.task, e.seq, e.first_seq, e.kind::event_kind, e."from", e."to", e.actor, decided_at, e.payload::json
    FROM unnest(e_grp, e_task, e_seq, e_first_seq, e_kind, e_from, e_to, e_actor, e_payload)
      e(grp, task, seq, first_seq, kind, "from", "to", actor, payload)
    WHERE e.grp <> ALL (missed);

  IF json_array_length(deliveries) > 0 THEN
    INSERT INTO delivery (task_key, number, agent_id, state, outcome, holder, instance, created_at, delivered_at, acked_at, started_at, ended_at)
      SELECT d.task, d.number, d.agent, d.state, d.outcome, d.holder, d.instance, decided_at,
        CASE WHEN d.delivered THEN decided_at END, CASE WHEN d.acked THEN decided_at END,
        CASE WHEN d.started THEN decided_at END, CASE WHEN d.state = 'ENDED' THEN decided_at END
      FROM json_to_recordset(deliveries) d(grp int, task uuid, number int, agent uuid, state delivery_state, outcome delivery_outcome,
        holder uuid, instance uuid, delivered boolean, acked boolean, started boolean)
      WHERE d.grp <> ALL (missed)
      ON CONFLICT (task_key, number) DO UPDATE SET state = excluded.state, outcome = excluded.outcome, holder = excluded.holder,
        instance = CASE WHEN excluded.holder IS NOT NULL THEN coalesce(excluded.instance, delivery.instance) END, delivered_at = coalesce(delivery.delivered_at, excluded.delivered_at),
        acked_at = coalesce(delivery.acked_at, excluded.acked_at), started_at = coalesce(delivery.started_at, excluded.started_at),
        ended_at = excluded.ended_at;
  END IF;

  IF json_array_length(waits) > 0 THEN
    DELETE FROM waiting USING json_to_recordset(waits) w(grp int, agent uuid, context uuid, rank bigint, task uuid, leaves boolean)
      WHERE w.leaves AND waiting.agent_id = w.agent AND waiting.context_key = w.context AND waiting.rank = w.rank
        AND waiting.task_key = w.task AND w.grp <> ALL (missed);
    INSERT INTO waiting (agent_id, context_key, rank, task_key)
      SELECT w.agent, w.context, w.rank, w.task
      FROM json_to_recordset(waits) w(grp int, agent uuid, context uuid, rank bigint, task uuid, leaves boolean)
      WHERE NOT w.leaves AND w.grp <> ALL (missed);
  END IF;

  IF json_array_length(deadlines) > 0 THEN
    DELETE FROM deadline USING json_to_recordset(deadlines) d(grp int, task uuid, kind deadline_kind, number int, after_seconds float, former int)
      WHERE d.after_seconds IS NULL AND d.former IS NULL AND deadline.task_key = d.task AND deadline.kind = d.kind
        AND coalesce(d.number, deadline.number) = deadline.number AND d.grp <> ALL (missed);
    UPDATE deadline SET number = d.number FROM json_to_recordset(deadlines) d(grp int, task uuid, kind deadline_kind, number int, former int)
      WHERE deadline.task_key = d.task AND deadline.kind = d.kind AND deadline.number = d.former AND d.grp <> ALL (missed);
    INSERT INTO deadline (task_key, kind, number, at)
      SELECT d.task, d.kind, d.number, hub_now() + make_interval(secs => d.after_seconds)
      FROM json_to_recordset(deadlines) d(grp int, task uuid, kind deadline_kind, number int, after_seconds float)
      WHERE d.after_seconds IS NOT NULL AND d.grp <> ALL (missed)
      ON CONFLICT (task_key, kind, number) DO UPDATE SET at = excluded.at;
  END IF;

  IF json_array_length(lanes) > 0 THEN
    UPDATE lane SET version = l.version, running = l.running, running_delivery = l.running_delivery, waiting = l.waiting,
        head = first.task_key, head_rank = first.rank
      FROM json_to_recordset(lanes) l(grp int, agent uuid, context uuid, version bigint, running uuid, running_delivery int, waiting int)
      LEFT JOIN LATERAL (
        SELECT w.task_key, w.rank FROM waiting w WHERE w.agent_id = l.agent AND w.context_key = l.context ORDER BY w.rank, w.task_key LIMIT 1
      ) first ON true
      WHERE lane.agent_id = l.agent AND lane.context_key = l.context AND l.grp <> ALL (missed);
    -- The default TTL counts from when nothing is ahead.
    INSERT INTO deadline (task_key, kind, number, at)
      SELECT task.key, 'TTL', task.delivery, hub_now() + make_interval(secs => default_ttl_seconds)
      FROM json_to_recordset(lanes) l(agent uuid, context uuid)
      JOIN lane ON lane.agent_id = l.agent AND lane.context_key = l.context AND lane.running IS NULL
      JOIN task ON task.key = lane.head
      ON CONFLICT DO NOTHING;
    DELETE FROM lane USING json_to_recordset(lanes) l(agent uuid, context uuid)
      WHERE lane.agent_id = l.agent AND lane.context_key = l.context AND lane.running IS NULL AND lane.waiting = 0;
  END IF;

  -- What is handed over in the flush that queued it never was first in line; it has to be acknowledged in time all the same.
  INSERT INTO deadline (task_key, kind, number, at)
    SELECT h.key, 'TTL', h.delivery, hub_now() + make_interval(secs => default_ttl_seconds)
    FROM (
      SELECT * FROM json_to_recordset(heads) h(grp int, key uuid, delivery int, delivery_state delivery_state)
      UNION ALL SELECT * FROM json_to_recordset(births) b(grp int, key uuid, delivery int, delivery_state delivery_state)
    ) h
    WHERE h.delivery_state = 'DELIVERED' AND h.grp <> ALL (missed)
    ON CONFLICT DO NOTHING;

  IF json_array_length(loads) > 0 THEN
    UPDATE agent_load SET version = l.version FROM json_to_recordset(loads) l(grp int, agent uuid, version bigint)
      WHERE agent_load.agent_id = l.agent AND l.grp <> ALL (missed);
  END IF;

  IF json_array_length(accounts) > 0 THEN
    UPDATE account SET balance = account.balance + a.balance, held = account.held + a.held
      FROM (
        SELECT a.account, sum(a.balance) AS balance, sum(a.held) AS held
        FROM json_to_recordset(accounts) a(grp int, account uuid, balance numeric, held numeric) WHERE a.grp <> ALL (missed) GROUP BY a.account
      ) a WHERE account.id = a.account;
    INSERT INTO charge (task_key, run, account_id, amount, state, at)
      SELECT c.task, c.run, c.account, c.amount, c.state, decided_at
      FROM json_to_recordset(charges) c(grp int, task uuid, run int, account uuid, amount numeric, state charge_state)
      WHERE c.grp <> ALL (missed) ORDER BY c.task, c.run
      ON CONFLICT (task_key, run) DO UPDATE SET state = excluded.state, at = excluded.at;
  END IF;

  IF json_array_length(confirmations) > 0 THEN
    UPDATE delivery SET confirmed_at = coalesce(confirmed_at, decided_at)
      FROM json_to_recordset(confirmations) c(grp int, task uuid, number int)
      WHERE delivery.task_key = c.task AND delivery.number = c.number AND c.grp <> ALL (missed);
  END IF;

  IF json_array_length(details) > 0 THEN
    INSERT INTO task_detail (task_key, metadata, result, usage)
      SELECT d.task, coalesce(d.metadata, '{}'), d.result, d.usage
      FROM json_to_recordset(details) d(grp int, task uuid, metadata jsonb, result text, usage jsonb)
      WHERE d.grp <> ALL (missed)
      ON CONFLICT (task_key) DO UPDATE SET result = excluded.result, usage = coalesce(excluded.usage, task_detail.usage);
  END IF;

  IF json_array_length(artifacts) > 0 THEN
    DELETE FROM artifact USING json_to_recordset(artifacts) a(grp int, task uuid, id text, drops boolean)
      WHERE a.drops AND artifact.task_key = a.task AND (a.id IS NULL OR artifact.artifact_id = a.id) AND a.grp <> ALL (missed);
    INSERT INTO artifact (task_key, artifact_id, name, description, run, first_seq, last_seq, size, complete, created_at, updated_at)
      SELECT a.task, a.id, a.name, a.description, a.run, a.first_seq, a.last_seq, a.size, a.complete, decided_at, decided_at
      FROM json_to_recordset(artifacts) a(grp int, task uuid, id text, name text, description text, run int, first_seq int,
        last_seq int, size int, complete boolean, drops boolean)
      WHERE a.drops IS NOT TRUE AND a.grp <> ALL (missed)
      ON CONFLICT (task_key, artifact_id) DO UPDATE SET name = coalesce(excluded.name, artifact.name),
        description = coalesce(excluded.description, artifact.description), last_seq = excluded.last_seq, complete = excluded.complete,
        size = artifact.size + excluded.size, updated_at = excluded.updated_at;
  END IF;

  INSERT INTO feed (epoch, xid, task_key, to_seq, from_seq, network_id, context_key, agent_id, root_key, flush)
    SELECT feed_epoch, pg_current_xact_id()::text::bigint, task.key, e.to_seq, e.from_seq, task.network_id, task.context_key,
      task.agent_id, task.root_key, flush_id
    FROM (
      SELECT e.task, max(e.seq) AS to_seq, min(e.first_seq) AS from_seq
      FROM unnest(e_grp, e_task, e_seq, e_first_seq) e(grp, task, seq, first_seq) WHERE e.grp <> ALL (missed) GROUP BY e.task
    ) e JOIN task ON task.key = e.task;

  -- A context that was made for a task which did not come to be goes with it.
  IF cardinality(missed) > 0 AND cardinality(fresh_contexts) > 0 THEN
    DELETE FROM context WHERE key = ANY (fresh_contexts) AND NOT EXISTS (SELECT FROM task WHERE task.context_key = context.key);
  END IF;
  RETURN missed;
END $$;
