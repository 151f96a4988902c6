-- CreateEnum
CREATE TYPE "agent_mode" AS ENUM ('SYNC', 'ASYNC');

-- CreateEnum
CREATE TYPE "when_lost" AS ENUM ('REQUEUE', 'FAIL');

-- CreateEnum
CREATE TYPE "task_state" AS ENUM ('SUBMITTED', 'WORKING', 'INPUT_REQUIRED', 'AUTH_REQUIRED', 'COMPLETED', 'FAILED', 'CANCELED', 'REJECTED', 'EXPIRED');

-- CreateEnum
CREATE TYPE "priority" AS ENUM ('HIGH', 'NORMAL', 'LOW');

-- CreateEnum
CREATE TYPE "delivery_state" AS ENUM ('QUEUED', 'DELIVERED', 'ACKED', 'WORKING', 'ENDED');

-- CreateEnum
CREATE TYPE "delivery_outcome" AS ENUM ('COMPLETED', 'FAILED', 'CANCELED', 'REJECTED', 'EXPIRED', 'INTERRUPTED', 'REASSIGNED', 'LOST');

-- CreateEnum
CREATE TYPE "author" AS ENUM ('USER', 'AGENT', 'SYSTEM');

-- CreateEnum
CREATE TYPE "message_kind" AS ENUM ('TASK', 'REPLY', 'MESSAGE', 'ACK', 'BROADCAST');

-- CreateEnum
CREATE TYPE "event_kind" AS ENUM ('STATUS', 'MESSAGE', 'ARTIFACT', 'DELIVERY', 'DELEGATION', 'CHARGE');

-- CreateEnum
CREATE TYPE "deadline_kind" AS ENUM ('TTL', 'TURN', 'INPUT', 'GRACE', 'PLACE');

-- CreateEnum
CREATE TYPE "charge_state" AS ENUM ('HELD', 'CAPTURED', 'RELEASED');

-- CreateTable
CREATE TABLE "agent" (
    "id" UUID NOT NULL,
    "network_id" UUID NOT NULL,
    "owner_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT,
    "url" TEXT,
    "mode" "agent_mode" NOT NULL DEFAULT 'SYNC',
    "capacity" INTEGER,
    "wake_url" TEXT,
    "timeout_seconds" INTEGER,
    "grace_seconds" INTEGER,
    "max_attempts" INTEGER,
    "when_lost" "when_lost" NOT NULL DEFAULT 'FAIL',
    "card" JSONB NOT NULL DEFAULT '{}',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "removed_at" TIMESTAMPTZ(3),

    CONSTRAINT "agent_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "skill" (
    "id" UUID NOT NULL,
    "agent_id" UUID NOT NULL,
    "skill_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT NOT NULL DEFAULT '',
    "tags" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "examples" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "price" DECIMAL(18,6) NOT NULL DEFAULT 0,

    CONSTRAINT "skill_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "context" (
    "key" UUID NOT NULL,
    "network_id" UUID NOT NULL,
    "owner_id" UUID NOT NULL,
    "id" TEXT NOT NULL,
    "title" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "context_pkey" PRIMARY KEY ("key")
);

-- CreateTable
CREATE TABLE "task" (
    "key" UUID NOT NULL,
    "network_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "context_key" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "requester_id" UUID NOT NULL,
    "requester_is_agent" BOOLEAN NOT NULL,
    "requester_name" TEXT NOT NULL,
    "agent_id" UUID NOT NULL,
    "agent_name" TEXT NOT NULL,
    "skill_id" TEXT,
    "parent_key" UUID,
    "root_key" UUID NOT NULL,
    "depth" INTEGER NOT NULL DEFAULT 0,
    "priority" "priority" NOT NULL,
    "state" "task_state" NOT NULL,
    "reason" TEXT,
    "run" INTEGER NOT NULL,
    "last_seq" INTEGER NOT NULL,
    "generation" INTEGER NOT NULL,
    "delivery" INTEGER NOT NULL,
    "delivery_state" "delivery_state" NOT NULL,
    "holder" UUID,
    "last_n" INTEGER NOT NULL,
    "rank" BIGINT NOT NULL,
    "attempts" INTEGER NOT NULL,
    "turn_seq" INTEGER NOT NULL,
    "ttl_seconds" INTEGER,
    "timeout_seconds" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "status_at" TIMESTAMPTZ(3) NOT NULL,
    "delivered_at" TIMESTAMPTZ(3),
    "started_at" TIMESTAMPTZ(3),
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "task_pkey" PRIMARY KEY ("key")
);

-- CreateTable
CREATE TABLE "task_detail" (
    "task_key" UUID NOT NULL,
    "metadata" JSONB NOT NULL,
    "result" TEXT,
    "usage" JSONB,

    CONSTRAINT "task_detail_pkey" PRIMARY KEY ("task_key")
);

-- CreateTable
CREATE TABLE "message" (
    "task_key" UUID NOT NULL,
    "seq" INTEGER NOT NULL,
    "network_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "author" "author" NOT NULL,
    "author_name" TEXT NOT NULL,
    "kind" "message_kind" NOT NULL,
    "parts" JSON NOT NULL,
    "in_reply_to" UUID,
    "metadata" JSON NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "message_pkey" PRIMARY KEY ("task_key","seq")
);

-- CreateTable
CREATE TABLE "artifact" (
    "task_key" UUID NOT NULL,
    "artifact_id" TEXT NOT NULL,
    "name" TEXT,
    "description" TEXT,
    "run" INTEGER NOT NULL,
    "first_seq" INTEGER NOT NULL,
    "last_seq" INTEGER NOT NULL,
    "size" INTEGER NOT NULL,
    "complete" BOOLEAN NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "artifact_pkey" PRIMARY KEY ("task_key","artifact_id")
);

-- CreateTable
CREATE TABLE "event" (
    "task_key" UUID NOT NULL,
    "seq" INTEGER NOT NULL,
    "first_seq" INTEGER NOT NULL,
    "kind" "event_kind" NOT NULL,
    "from" TEXT,
    "to" TEXT,
    "actor" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "payload" JSON NOT NULL,

    CONSTRAINT "event_pkey" PRIMARY KEY ("task_key","seq")
);

-- CreateTable
CREATE TABLE "delivery" (
    "task_key" UUID NOT NULL,
    "number" INTEGER NOT NULL,
    "agent_id" UUID NOT NULL,
    "state" "delivery_state" NOT NULL,
    "outcome" "delivery_outcome",
    "holder" UUID,
    "instance" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "delivered_at" TIMESTAMPTZ(3),
    "acked_at" TIMESTAMPTZ(3),
    "started_at" TIMESTAMPTZ(3),
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "delivery_pkey" PRIMARY KEY ("task_key","number")
);

-- CreateTable
CREATE TABLE "lane" (
    "agent_id" UUID NOT NULL,
    "context_key" UUID NOT NULL,
    "version" BIGINT NOT NULL,
    "running" UUID,
    "running_delivery" INTEGER,
    "head" UUID,
    "head_rank" BIGINT,
    "waiting" INTEGER NOT NULL,

    CONSTRAINT "lane_pkey" PRIMARY KEY ("agent_id","context_key")
);

-- CreateTable
CREATE TABLE "waiting" (
    "agent_id" UUID NOT NULL,
    "context_key" UUID NOT NULL,
    "rank" BIGINT NOT NULL,
    "task_key" UUID NOT NULL,

    CONSTRAINT "waiting_pkey" PRIMARY KEY ("agent_id","context_key","rank","task_key")
);

-- CreateTable
CREATE TABLE "deadline" (
    "task_key" UUID NOT NULL,
    "kind" "deadline_kind" NOT NULL,
    "number" INTEGER NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "deadline_pkey" PRIMARY KEY ("task_key","kind","number")
);

-- CreateTable
CREATE TABLE "instance" (
    "boot_id" UUID NOT NULL,
    "until" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "instance_pkey" PRIMARY KEY ("boot_id")
);

-- CreateTable
CREATE TABLE "feed" (
    "epoch" INTEGER NOT NULL,
    "xid" BIGINT NOT NULL,
    "task_key" UUID NOT NULL,
    "to_seq" INTEGER NOT NULL,
    "from_seq" INTEGER NOT NULL,
    "network_id" UUID NOT NULL,
    "context_key" UUID NOT NULL,
    "agent_id" UUID NOT NULL,
    "root_key" UUID NOT NULL,
    "flush" UUID NOT NULL,

    CONSTRAINT "feed_pkey" PRIMARY KEY ("epoch","xid","task_key")
);

-- CreateTable
CREATE TABLE "account" (
    "id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "balance" DECIMAL(18,6) NOT NULL DEFAULT 0,
    "held" DECIMAL(18,6) NOT NULL DEFAULT 0,

    CONSTRAINT "account_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "charge" (
    "task_key" UUID NOT NULL,
    "run" INTEGER NOT NULL,
    "account_id" UUID NOT NULL,
    "amount" DECIMAL(18,6) NOT NULL,
    "state" "charge_state" NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "charge_pkey" PRIMARY KEY ("task_key","run")
);

-- CreateIndex
CREATE UNIQUE INDEX "agent_network_id_name_key" ON "agent"("network_id", "name") WHERE (removed_at IS NULL);

-- CreateIndex
CREATE UNIQUE INDEX "skill_agent_id_skill_id_key" ON "skill"("agent_id", "skill_id");

-- CreateIndex
CREATE UNIQUE INDEX "context_network_id_owner_id_id_key" ON "context"("network_id", "owner_id", "id");

-- CreateIndex
CREATE INDEX "task_network_id_created_at_key_idx" ON "task"("network_id", "created_at", "key");

-- CreateIndex
CREATE INDEX "task_context_key_created_at_key_idx" ON "task"("context_key", "created_at", "key");

-- CreateIndex
CREATE INDEX "task_agent_id_created_at_key_idx" ON "task"("agent_id", "created_at", "key");

-- CreateIndex
CREATE INDEX "task_parent_key_idx" ON "task"("parent_key") WHERE (parent_key IS NOT NULL);

-- CreateIndex
CREATE INDEX "task_root_key_idx" ON "task"("root_key");

-- CreateIndex
CREATE UNIQUE INDEX "task_network_id_id_key" ON "task"("network_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "message_network_id_id_key" ON "message"("network_id", "id");

-- CreateIndex
CREATE INDEX "delivery_instance_idx" ON "delivery"("instance") WHERE (instance IS NOT NULL);

-- CreateIndex
CREATE INDEX "lane_agent_id_head_rank_idx" ON "lane"("agent_id", "head_rank") WHERE (running IS NULL AND head IS NOT NULL);

-- CreateIndex
CREATE INDEX "deadline_at_idx" ON "deadline"("at");

-- CreateIndex
CREATE INDEX "feed_flush_idx" ON "feed"("flush");

-- CreateIndex
CREATE UNIQUE INDEX "account_user_id_key" ON "account"("user_id");

-- CreateIndex
CREATE UNIQUE INDEX "charge_task_key_key" ON "charge"("task_key") WHERE (state <> 'RELEASED'::charge_state);

-- AddForeignKey
ALTER TABLE "agent" ADD CONSTRAINT "agent_network_id_fkey" FOREIGN KEY ("network_id") REFERENCES "network"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "agent" ADD CONSTRAINT "agent_owner_id_fkey" FOREIGN KEY ("owner_id") REFERENCES "user"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "skill" ADD CONSTRAINT "skill_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agent"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "context" ADD CONSTRAINT "context_network_id_fkey" FOREIGN KEY ("network_id") REFERENCES "network"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "context" ADD CONSTRAINT "context_owner_id_fkey" FOREIGN KEY ("owner_id") REFERENCES "user"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "task" ADD CONSTRAINT "task_network_id_fkey" FOREIGN KEY ("network_id") REFERENCES "network"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "task" ADD CONSTRAINT "task_context_key_fkey" FOREIGN KEY ("context_key") REFERENCES "context"("key") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "task" ADD CONSTRAINT "task_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "task" ADD CONSTRAINT "task_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agent"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "task" ADD CONSTRAINT "task_parent_key_fkey" FOREIGN KEY ("parent_key") REFERENCES "task"("key") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "task_detail" ADD CONSTRAINT "task_detail_task_key_fkey" FOREIGN KEY ("task_key") REFERENCES "task"("key") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "message" ADD CONSTRAINT "message_task_key_fkey" FOREIGN KEY ("task_key") REFERENCES "task"("key") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "artifact" ADD CONSTRAINT "artifact_task_key_fkey" FOREIGN KEY ("task_key") REFERENCES "task"("key") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "event" ADD CONSTRAINT "event_task_key_fkey" FOREIGN KEY ("task_key") REFERENCES "task"("key") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "delivery" ADD CONSTRAINT "delivery_task_key_fkey" FOREIGN KEY ("task_key") REFERENCES "task"("key") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "account" ADD CONSTRAINT "account_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "charge" ADD CONSTRAINT "charge_task_key_fkey" FOREIGN KEY ("task_key") REFERENCES "task"("key") ON DELETE RESTRICT ON UPDATE CASCADE;

-- What Prisma cannot say

ALTER TABLE "agent" ADD CONSTRAINT "agent_name_check" CHECK ("name" <> '');
ALTER TABLE "agent" ADD CONSTRAINT "agent_capacity_check" CHECK ("capacity" >= 1);
ALTER TABLE "skill" ADD CONSTRAINT "skill_price_check" CHECK ("price" >= 0);
ALTER TABLE "context" ADD CONSTRAINT "context_id_check" CHECK (char_length("id") BETWEEN 1 AND 128);
ALTER TABLE "account" ADD CONSTRAINT "account_available_check" CHECK ("held" >= 0 AND "balance" >= "held");
ALTER TABLE "charge" ADD CONSTRAINT "charge_amount_check" CHECK ("amount" > 0);
ALTER TABLE "lane" ADD CONSTRAINT "lane_waiting_check" CHECK ("waiting" BETWEEN 0 AND 9999);
ALTER TABLE "lane" ADD CONSTRAINT "lane_head_check" CHECK (("head" IS NULL) = ("waiting" = 0) AND ("head" IS NULL) = ("head_rank" IS NULL));
ALTER TABLE "lane" ADD CONSTRAINT "lane_running_check" CHECK (("running" IS NULL) = ("running_delivery" IS NULL));
ALTER TABLE "delivery" ADD CONSTRAINT "delivery_outcome_check" CHECK (("state" = 'ENDED') = ("outcome" IS NOT NULL));
ALTER TABLE "artifact" ADD CONSTRAINT "artifact_seq_check" CHECK ("first_seq" BETWEEN 1 AND "last_seq");
ALTER TABLE "event" ADD CONSTRAINT "event_seq_check" CHECK ("first_seq" BETWEEN 1 AND "seq");

-- A copy of the table in src/core/task-state.ts; a test compares all pairs of states.
ALTER TABLE "event" ADD CONSTRAINT "event_status_check" CHECK (
  "kind" <> 'STATUS' OR (coalesce("from", ''), coalesce("to", '')) IN (
    ('', 'SUBMITTED'),
    ('WORKING', 'WORKING'),
    ('SUBMITTED', 'SUBMITTED'),
    ('SUBMITTED', 'WORKING'),
    ('SUBMITTED', 'FAILED'),
    ('SUBMITTED', 'CANCELED'),
    ('SUBMITTED', 'REJECTED'),
    ('SUBMITTED', 'EXPIRED'),
    ('WORKING', 'INPUT_REQUIRED'),
    ('WORKING', 'AUTH_REQUIRED'),
    ('WORKING', 'COMPLETED'),
    ('WORKING', 'FAILED'),
    ('WORKING', 'CANCELED'),
    ('WORKING', 'REJECTED'),
    ('WORKING', 'SUBMITTED'),
    ('INPUT_REQUIRED', 'WORKING'),
    ('INPUT_REQUIRED', 'FAILED'),
    ('INPUT_REQUIRED', 'CANCELED'),
    ('INPUT_REQUIRED', 'SUBMITTED'),
    ('AUTH_REQUIRED', 'WORKING'),
    ('AUTH_REQUIRED', 'FAILED'),
    ('AUTH_REQUIRED', 'CANCELED'),
    ('AUTH_REQUIRED', 'SUBMITTED'),
    ('FAILED', 'SUBMITTED'),
    ('CANCELED', 'SUBMITTED'),
    ('REJECTED', 'SUBMITTED'),
    ('EXPIRED', 'SUBMITTED')
  )
);

ALTER TABLE "task" ADD CONSTRAINT "task_counters_check" CHECK (
  "run" >= 1 AND "last_seq" >= 1 AND "generation" >= 1 AND "delivery" >= 1 AND "last_n" >= 0 AND "attempts" >= 0 AND "depth" >= 0
);
ALTER TABLE "task" ADD CONSTRAINT "task_finished_check" CHECK (
  ("finished_at" IS NOT NULL) = ("state" IN ('COMPLETED', 'FAILED', 'CANCELED', 'REJECTED', 'EXPIRED'))
);
ALTER TABLE "task" ADD CONSTRAINT "task_delivery_check" CHECK ("finished_at" IS NULL OR "delivery_state" = 'ENDED');
ALTER TABLE "task" ADD CONSTRAINT "task_holder_check" CHECK ("holder" IS NULL OR "delivery_state" NOT IN ('QUEUED', 'ENDED'));

-- Moves of a task fold in one update, so pairs are checked on the events. What holds for every update:
CREATE FUNCTION "refuse_task_update"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD."state" = 'COMPLETED' THEN
    RAISE EXCEPTION 'task % is completed and changes no more', OLD."key" USING ERRCODE = 'BA001';
  ELSIF OLD."finished_at" IS NOT NULL AND NEW."run" <> OLD."run" + 1 THEN
    RAISE EXCEPTION 'task % is % and changes only with a new run', OLD."key", OLD."state" USING ERRCODE = 'BA001';
  ELSIF NEW."last_seq" < OLD."last_seq" OR NEW."run" NOT IN (OLD."run", OLD."run" + 1) THEN
    RAISE EXCEPTION 'task % goes back: seq % to %, run % to %', OLD."key", OLD."last_seq", NEW."last_seq", OLD."run", NEW."run" USING ERRCODE = 'BA002';
  END IF;
  RETURN NEW;
END $$;

CREATE TRIGGER "task_guard" BEFORE UPDATE ON "task" FOR EACH ROW
  WHEN (OLD."finished_at" IS NOT NULL OR NEW."last_seq" < OLD."last_seq" OR NEW."run" <> OLD."run")
  EXECUTE FUNCTION "refuse_task_update"();

-- The hub's clock. Leases and deadlines are judged by it alone.
CREATE FUNCTION "hub_now"() RETURNS timestamptz LANGUAGE sql STABLE AS 'SELECT now()';

-- What changes with every chunk is in no index, so its new version fits on the same page.
ALTER TABLE "task" SET (fillfactor = 70);
ALTER TABLE "lane" SET (fillfactor = 70);
ALTER TABLE "artifact" SET (fillfactor = 70);

-- The writer's one statement: commits a batch of decided commands, without a transaction held open from outside.
-- Rows carry `grp`: rows of a group are written together or not at all. Returns the groups that were missed, because a
-- head has moved on since they were decided. Locks are taken in one order: lanes, then tasks, each by key.
CREATE FUNCTION "flush_v1"(
  writer bigint, flush_id uuid, feed_epoch int, decided_at timestamptz, default_ttl_seconds int,
  lanes json, heads json, births json, messages json, deliveries json, waits json, deadlines json, details json, artifacts json,
  e_grp int[], e_task uuid[], e_seq int[], e_first_seq int[], e_kind text[], e_from text[], e_to text[], e_actor text[], e_payload text[]
) RETURNS int[] LANGUAGE plpgsql AS $$
DECLARE missed int[] := '{}'; more int[];
BEGIN
  -- After a lost connection the writer takes this lock on a new one: it waits for this flush to end.
  PERFORM pg_advisory_xact_lock(writer);

  -- 1. lock, compare with what was decided on
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
    SELECT array_agg(b.grp) INTO more FROM json_to_recordset(births) b(grp int, key uuid)
      WHERE b.grp <> ALL (missed) AND NOT EXISTS (SELECT FROM born WHERE born.key = b.key);
    missed := missed || coalesce(more, '{}');
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
      delivery_state = h.delivery_state, holder = h.holder, last_n = h.last_n, rank = h.rank, attempts = h.attempts, turn_seq = h.turn_seq,
      agent_id = h.agent, agent_name = h.agent_name, updated_at = decided_at,
      status_at = CASE WHEN h.moved THEN decided_at ELSE task.status_at END,
      delivered_at = CASE WHEN h.run <> task.run THEN NULL WHEN h.delivery_state = 'QUEUED' THEN task.delivered_at ELSE coalesce(task.delivered_at, decided_at) END,
      started_at = CASE WHEN h.run <> task.run THEN NULL WHEN h.started THEN coalesce(task.started_at, decided_at) ELSE task.started_at END,
      finished_at = CASE WHEN h.finished THEN coalesce(task.finished_at, decided_at) END
    FROM (
      SELECT * FROM json_to_recordset(heads) h(grp int, key uuid, state task_state, reason text, run int, seq int, generation int,
        delivery int, delivery_state delivery_state, holder uuid, last_n int, rank bigint, attempts int, turn_seq int, agent uuid,
        agent_name text, moved boolean, started boolean, finished boolean)
      UNION ALL
      SELECT * FROM json_to_recordset(births) b(grp int, key uuid, state task_state, reason text, run int, seq int, generation int,
        delivery int, delivery_state delivery_state, holder uuid, last_n int, rank bigint, attempts int, turn_seq int, agent uuid,
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
    DELETE FROM deadline USING json_to_recordset(deadlines) d(grp int, task uuid, kind deadline_kind, number int, after_seconds float)
      WHERE d.after_seconds IS NULL AND deadline.task_key = d.task AND deadline.kind = d.kind
        AND coalesce(d.number, deadline.number) = deadline.number AND d.grp <> ALL (missed);
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
  RETURN missed;
END $$;
