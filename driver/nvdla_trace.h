/* SPDX-License-Identifier: GPL-2.0-only */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM nvdla

#if !defined(NVDLA_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define NVDLA_TRACE_H

#include <linux/tracepoint.h>

#include "nvdla_client.h"
#include "nvdla_device.h"
#include "nvdla_job.h"
#include "nvdla_kchain.h"

/* clang-format off */

/* A job is accepted. */
TRACE_EVENT(nvdla_submit,
	    TP_PROTO(const struct nvdla_job *job),
	    TP_ARGS(job),
	    TP_STRUCT__entry(__string(dev, dev_name(job->nvdla->dev))
			     __field(u64, client)
			     __field(u64, run)
			     __field(u32, tasks)
			     __field(u32, segments)
			     __field(u32, banks)),
	    TP_fast_assign(__assign_str(dev);
			   __entry->client = job->client->id;
			   __entry->run = job->run;
			   __entry->tasks = job->kchain->chain.task_count;
			   __entry->segments = job->segment_count;
			   __entry->banks = job->kchain->chain.banks;),
	    TP_printk("dev=%s client=%llu job=%llu tasks=%u segments=%u banks=%u",
		      __get_str(dev), __entry->client, __entry->run, __entry->tasks,
		      __entry->segments, __entry->banks));

DECLARE_EVENT_CLASS(nvdla_task,
		    TP_PROTO(const struct nvdla_job *job, u32 segment, u32 task),
		    TP_ARGS(job, segment, task),
		    TP_STRUCT__entry(__string(dev, dev_name(job->nvdla->dev))
				     __field(u64, client)
				     __field(u64, run)
				     __field(u32, segment)
				     __field(u32, task)
				     __field(u32, label)),
		    TP_fast_assign(__assign_str(dev);
				   __entry->client = job->client->id;
				   __entry->run = job->run;
				   __entry->segment = segment;
				   __entry->task = task;
				   __entry->label = job->kchain->chain.task[task].label;),
		    TP_printk("dev=%s client=%llu job=%llu segment=%u task=%u label=%u",
			      __get_str(dev), __entry->client, __entry->run, __entry->segment,
			      __entry->task, __entry->label));

/* A task is handed to the hardware and starts when its units are free; segment: its first task. */
DEFINE_EVENT(nvdla_task, nvdla_task_start,
	     TP_PROTO(const struct nvdla_job *job, u32 segment, u32 task),
	     TP_ARGS(job, segment, task));

/* A task is done. */
DEFINE_EVENT(nvdla_task, nvdla_task_done,
	     TP_PROTO(const struct nvdla_job *job, u32 segment, u32 task),
	     TP_ARGS(job, segment, task));

/* A job is done, well or not; its fence signals next. */
TRACE_EVENT(nvdla_job_done,
	    TP_PROTO(const struct nvdla_job *job),
	    TP_ARGS(job),
	    TP_STRUCT__entry(__string(dev, dev_name(job->nvdla->dev))
			     __field(u64, client)
			     __field(u64, run)
			     __field(int, error)
			     __field(u32, tasks)
			     __field(u64, busy_ns)),
	    TP_fast_assign(__assign_str(dev);
			   __entry->client = job->client->id;
			   __entry->run = job->run;
			   __entry->error = job->stat.error;
			   __entry->tasks = job->stat.tasks;
			   __entry->busy_ns = job->stat.busy_ns;),
	    TP_printk("dev=%s client=%llu job=%llu error=%d tasks=%u busy_ns=%llu",
		      __get_str(dev), __entry->client, __entry->run, __entry->error,
		      __entry->tasks, __entry->busy_ns));

/* The budget changed. */
TRACE_EVENT(nvdla_budget,
	    TP_PROTO(const struct nvdla_device *nvdla, u64 generation, u32 cause, u32 limit,
		     u32 usable, u32 reserved),
	    TP_ARGS(nvdla, generation, cause, limit, usable, reserved),
	    TP_STRUCT__entry(__string(dev, dev_name(nvdla->dev))
			     __field(u64, generation)
			     __field(u32, cause)
			     __field(u32, limit)
			     __field(u32, usable)
			     __field(u32, reserved)),
	    TP_fast_assign(__assign_str(dev);
			   __entry->generation = generation;
			   __entry->cause = cause;
			   __entry->limit = limit;
			   __entry->usable = usable;
			   __entry->reserved = reserved;),
	    TP_printk("dev=%s generation=%llu cause=%u limit=%u usable=%u reserved=%u",
		      __get_str(dev), __entry->generation, __entry->cause, __entry->limit,
		      __entry->usable, __entry->reserved));

/* clang-format on */

#endif /* NVDLA_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE nvdla_trace
#include <trace/define_trace.h>
