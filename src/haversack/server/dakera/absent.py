"""Calls of the dakera client that this server does not offer: each answers 501 and is named, never silently ignored."""

from __future__ import annotations

import re

__all__ = ["absent_call"]

_CALLS = """
POST /v1/namespaces/{}/keys create_namespace_key
GET /v1/namespaces/{}/keys list_namespace_keys
PUT /v1/admin/quotas update_quotas
PUT /v1/admin/quotas/{} update_quotas
POST /v1/namespaces/{}/vectors upsert
POST /v1/namespaces/{}/query query
POST /v1/namespaces/{}/vectors/delete delete
POST /v1/namespaces/{}/vectors/bulk-update bulk_update_vectors
POST /v1/namespaces/{}/vectors/bulk-delete bulk_delete_vectors
POST /v1/namespaces/{}/vectors/count count_vectors
POST /v1/namespaces/{}/batch-query batch_query
POST /v1/namespaces/{}/upsert-text upsert_text
POST /v1/namespaces/{}/query-text query_text
POST /v1/namespaces/{}/batch-query-text batch_query_text
POST /v1/namespaces/{}/fulltext/index index_documents
POST /v1/namespaces/{}/fulltext/search fulltext_search
POST /v1/namespaces/{}/hybrid hybrid_search
POST /v1/namespaces create_namespace
PUT /v1/namespaces/{} configure_namespace
DELETE /v1/namespaces/{} delete_namespace
POST /v1/namespaces/{}/attachments upload_attachment
GET /v1/namespaces/{}/attachments list_attachments
GET /v1/namespaces/{}/attachments/{} download_attachment
DELETE /v1/namespaces/{}/attachments/{} delete_attachment
POST /v1/namespaces/{}/attachments/{}/transcribe transcribe_attachment
GET /v1/namespaces/{}/attachments/{}/transcribe/{} get_transcription_job
POST /v1/namespaces/{}/attachments/{}/index index_attachment
GET /v1/namespaces/{}/attachments/{}/index/{} get_index_job
POST /v1/memory/documents import_document
POST /v1/namespaces/{}/attachments/{}/document import_attachment_document
GET /v1/memory/documents/jobs/{} get_document_job
GET /v1/memory/documents list_documents
GET /v1/memory/documents/{} get_document
DELETE /v1/memory/documents/{} delete_document
POST /v1/namespaces/{}/records upsert_records
GET /v1/namespaces/{}/records/{} get_record
PUT /v1/namespaces/{}/config replace_namespace_ner_config
POST /ops/compact compact
POST /v1/agents/{}/compress compress_agent
POST /v1/agents/{}/consolidate consolidate_agent
GET /v1/agents/{}/consolidation/log get_consolidation_log
PATCH /v1/agents/{}/consolidation/config patch_consolidation_config
GET /v1/memories/{}/graph memory_graph
GET /v1/memories/{}/path memory_path
POST /v1/memories/{}/links memory_link
GET /v1/agents/{}/graph/export agent_graph_export
GET /v1/namespaces/{}/config get_namespace_entity_config
GET /v1/namespaces/{}/extractor get_namespace_extractor
PATCH /v1/namespaces/{}/config configure_namespace_ner
POST /v1/memories/extract extract_entities
GET /v1/memory/entities/{} memory_entities
POST /v1/namespaces/{}/cache/warm warm_cache
POST /v1/namespaces/{}/multi-vector multi_vector_search
POST /v1/namespaces/{}/unified-query unified_query
POST /v1/namespaces/{}/aggregate aggregate
POST /v1/namespaces/{}/export export_vectors
POST /v1/namespaces/{}/explain explain_query
POST /v1/namespaces/{}/upsert-columns upsert_columns
POST /v1/knowledge/graph knowledge_graph
POST /v1/knowledge/graph/full full_knowledge_graph
POST /v1/knowledge/summarize summarize
GET /v1/knowledge/query knowledge_query
GET /v1/knowledge/path knowledge_path
GET /v1/knowledge/export knowledge_export
GET /v1/analytics/overview analytics_overview
GET /v1/analytics/latency analytics_latency
GET /v1/analytics/throughput analytics_throughput
GET /v1/analytics/storage analytics_storage
GET /debug/config debug_config
GET /v1/admin/cluster/status cluster_status
GET /v1/admin/cluster/nodes cluster_nodes
POST /v1/admin/namespaces/{}/optimize optimize_namespace
GET /v1/admin/indexes/stats index_stats
POST /v1/admin/indexes/rebuild rebuild_indexes
GET /v1/admin/cache/stats cache_stats
POST /v1/admin/cache/clear cache_clear
GET /v1/admin/config get_config
PUT /v1/admin/config update_config
GET /v1/admin/quotas get_quotas
GET /v1/admin/slow-queries slow_queries
POST /v1/admin/backups create_backup
GET /v1/admin/backups list_backups
POST /v1/admin/backups/restore restore_backup
DELETE /v1/admin/backups/{} delete_backup
GET /v1/admin/autopilot/status autopilot_status
PUT /v1/admin/autopilot/config autopilot_update_config
POST /v1/admin/autopilot/trigger autopilot_trigger
GET /v1/admin/decay/config decay_config
PUT /v1/admin/decay/config decay_update_config
GET /v1/admin/decay/stats decay_stats
GET /v1/kpis get_kpis
POST /v1/admin/encryption/rotate-key rotate_encryption_key
GET /ops/events stream_global_events
GET /v1/events/stream stream_memory_events
POST /v1/knowledge/network/cross-agent cross_agent_network
DELETE /v1/namespaces/{}/keys/{} delete_namespace_key
PATCH /v1/namespaces/{}/keys/{} update_namespace_key
GET /v1/namespaces/{}/keys/{}/usage get_namespace_key_usage
GET /v1/audit list_audit_events
GET /v1/audit/stream stream_audit_events
GET /v1/audit/export export_audit
POST /v1/extract extract_text
PATCH /v1/namespaces/{}/extractor configure_namespace_extractor
GET /v1/namespaces/{}/memory_policy get_memory_policy
PUT /v1/namespaces/{}/memory_policy set_memory_policy
POST /v1/admin/fulltext/reindex admin_fulltext_reindex
GET /v1/admin/cluster/replication admin_cluster_replication
GET /v1/admin/cluster/shards admin_list_shards
POST /v1/admin/cluster/shards/rebalance admin_rebalance_shards
GET /v1/admin/cluster/maintenance admin_maintenance_status
POST /v1/admin/cluster/maintenance/enable admin_enable_maintenance
POST /v1/admin/cluster/maintenance/disable admin_disable_maintenance
GET /v1/admin/quotas/default admin_get_default_quota
PUT /v1/admin/quotas/default admin_set_default_quota
GET /v1/admin/quotas/{} admin_get_quota
PUT /v1/admin/quotas/{} admin_set_quota
DELETE /v1/admin/quotas/{} admin_delete_quota
POST /v1/admin/quotas/{}/check admin_check_quota
GET /v1/admin/slow-queries/summary admin_slow_query_summary
DELETE /v1/admin/slow-queries admin_clear_slow_queries
PATCH /v1/admin/slow-queries/config admin_update_slow_query_config
GET /v1/admin/backups/{} admin_get_backup
GET /v1/admin/backups/schedule admin_get_backup_schedule
POST /v1/admin/backups/schedule admin_update_backup_schedule
GET /v1/admin/backups/restore/{} admin_get_restore_status
GET /ops/diagnostics ops_diagnostics
GET /ops/jobs ops_list_jobs
GET /ops/jobs/{} ops_get_job
POST /ops/shutdown ops_shutdown
GET /v1/namespaces/{}/fulltext/stats fulltext_stats
POST /v1/namespaces/{}/fulltext/delete fulltext_delete
GET /v1/admin/ttl/stats ttl_stats
POST /v1/admin/ttl/cleanup ttl_cleanup
POST /v1/route route_query
GET /v1/import/{}/status import_job_status
GET /v1/admin/backups/{}/download download_backup
POST /v1/admin/backups/upload upload_backup
GET /v1/admin/storage/tiers storage_tier_overview
GET /v1/admin/background-activity background_activity
GET /v1/admin/memory-type-stats memory_type_stats
POST /v1/admin/namespaces/migrate-dimensions migrate_namespace_dimensions
POST /v1/admin/reembed/drain drain_reembed
GET /v1/admin/reembed/static-count admin_reembed_static_count
GET /v1/admin/derivations/status derivations_status
POST /v1/admin/derivations/drain drain_derivations
"""


def _rules() -> list[tuple[str, re.Pattern[str], str]]:
    rows = (line.split() for line in _CALLS.strip().splitlines())
    return [(method, re.compile("[^/]+".join(map(re.escape, path.split("{}")))), name) for method, path, name in rows]


_RULES = _rules()


def absent_call(method: str, path: str) -> str | None:
    """The name of the call that this request is, when it is one that we do not offer."""
    return next((name for verb, rule, name in _RULES if verb == method and rule.fullmatch(path)), None)
