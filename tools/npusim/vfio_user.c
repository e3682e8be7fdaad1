// SPDX-License-Identifier: MIT
/* Messages: taken apart, checked, handed to the device, answered. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <json-c/json.h>

#include "vfio_user_io.h"

#define PROTOCOL_MAJOR 0
#define PROTOCOL_MINOR 0

/* The longest message that any command needs. */
#define MAX_PAYLOAD (sizeof(struct vfio_user_region_access) + VFIO_USER_MAX_TRANSFER)

/* So often is the socket read before others have their turn. */
#define READS_AT_ONCE 64

/* What the peer takes in one transfer unless it says otherwise. */
#define DEFAULT_TRANSFER 1048576u

/**
 * struct vfio_user_peer - one connection
 * @version_agreed: the first message has been exchanged
 * @header, @payload: the message that is arriving
 * @have: bytes of it so far, with the header
 * @fds: files that came with it
 * @reply, @reply_size: the answer's payload
 * @reply_fd: a file that goes with it, or -1; closed when sent if @reply_fd_owned
 */
struct vfio_user_peer {
	int socket;
	const struct vfio_user_ops *ops;
	void *context;
	bool version_agreed;
	u32 max_transfer;

	struct vfio_user_header header;
	size_t have;
	struct vfio_user_fds fds;
	u8 payload[MAX_PAYLOAD];

	u8 reply[MAX_PAYLOAD];
	size_t reply_size;
	int reply_fd;
	bool reply_fd_owned;
};

static size_t payload_size(const struct vfio_user_peer *peer)
{
	return peer->header.size - sizeof(peer->header);
}

/* Is an object of the capabilities there and true? */
static bool wants_twin(struct json_object *capabilities)
{
	struct json_object *twin, *supported;

	return json_object_object_get_ex(capabilities, "twin_socket", &twin) &&
	       json_object_object_get_ex(twin, "supported", &supported) &&
	       json_object_get_boolean(supported);
}

static int take_transfer(struct vfio_user_peer *peer, struct json_object *capabilities)
{
	struct json_object *number;
	s64 value;

	peer->max_transfer = DEFAULT_TRANSFER;
	if (!json_object_object_get_ex(capabilities, "max_data_xfer_size", &number))
		return 0;
	value = json_object_get_int64(number);
	if (value <= 0)
		return -EINVAL;
	peer->max_transfer = (u32)min(value, (s64)VFIO_USER_MAX_TRANSFER);
	return 0;
}

/* The text behind the version numbers, if any; NULL where it is none or not JSON. */
static struct json_object *parse_capabilities(const u8 *text, size_t size, int *error)
{
	struct json_object *all, *capabilities = NULL;

	*error = 0;
	if (!size)
		return NULL;
	*error = -EINVAL;
	if (text[size - 1] != '\0')
		return NULL;
	all = json_tokener_parse((const char *)text);
	if (!all)
		return NULL;
	*error = 0;
	if (json_object_object_get_ex(all, "capabilities", &capabilities))
		json_object_get(capabilities);
	json_object_put(all);
	return capabilities;
}

/* A socket pair: one end goes to the peer with the answer, the other is the device's. */
static int make_twin(struct vfio_user_peer *peer)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return -errno;
	peer->reply_fd = pair[0];
	peer->reply_fd_owned = true;
	peer->ops->twin(peer->context, pair[1], peer->max_transfer);
	return 0;
}

static int on_version(struct vfio_user_peer *peer)
{
	struct vfio_user_version version;
	struct json_object *capabilities;
	bool twin;
	int error;

	memcpy(&version, peer->payload, sizeof(version));
	if (peer->version_agreed || version.major != PROTOCOL_MAJOR)
		return -EINVAL;
	capabilities = parse_capabilities(peer->payload + sizeof(version),
					  payload_size(peer) - sizeof(version), &error);
	if (error)
		return error;
	twin = wants_twin(capabilities);
	error = take_transfer(peer, capabilities);
	json_object_put(capabilities);
	if (!error && twin)
		error = make_twin(peer);
	if (error)
		return error;

	version.minor = PROTOCOL_MINOR;
	memcpy(peer->reply, &version, sizeof(version));
	peer->reply_size = sizeof(version) + 1 +
			   (size_t)snprintf((char *)peer->reply + sizeof(version),
					    sizeof(peer->reply) - sizeof(version),
					    "{\"capabilities\":{\"max_msg_fds\":%u,"
					    "\"max_data_xfer_size\":%u,\"max_dma_maps\":%u,"
					    "\"pgsizes\":%u%s}}",
					    VFIO_USER_MAX_FDS, VFIO_USER_MAX_TRANSFER,
					    VFIO_USER_MAX_DMA_MAPS, VFIO_USER_PAGE_BYTES,
					    twin ? ",\"twin_socket\":{\"supported\":true,"
						   "\"fd_index\":0}"
						 : "");
	peer->version_agreed = true;
	return 0;
}

static int on_dma_map(struct vfio_user_peer *peer)
{
	const u32 known = VFIO_USER_DMA_READABLE | VFIO_USER_DMA_WRITABLE | VFIO_USER_DMA_BY_MMAP |
			  VFIO_USER_DMA_BY_FILE;
	struct vfio_user_dma_map map;
	int fd, error;

	memcpy(&map, peer->payload, sizeof(map));
	if ((map.flags & ~known) || peer->fds.count > 1)
		return -EINVAL;
	fd = vfio_user_fds_take(&peer->fds, 0);
	if (fd < 0 && (map.flags & (VFIO_USER_DMA_BY_MMAP | VFIO_USER_DMA_BY_FILE)))
		return -EINVAL;
	error = peer->ops->dma_map(peer->context, &map, fd);
	if (fd >= 0)
		close(fd);
	return error;
}

static int on_dma_unmap(struct vfio_user_peer *peer)
{
	struct vfio_user_dma_unmap unmap;

	memcpy(&unmap, peer->payload, sizeof(unmap));
	memcpy(peer->reply, &unmap, sizeof(unmap));
	peer->reply_size = sizeof(unmap);
	if (unmap.flags & ~VFIO_DMA_UNMAP_FLAG_ALL)
		return -EINVAL;
	return peer->ops->dma_unmap(peer->context, &unmap);
}

/* An answer of fixed size, which the caller must have room for. */
static int reply_info(struct vfio_user_peer *peer, const void *info, size_t size, u32 argsz)
{
	if (argsz < size)
		return -EINVAL;
	memcpy(peer->reply, info, size);
	peer->reply_size = size;
	return 0;
}

static int on_get_info(struct vfio_user_peer *peer)
{
	/* Shorter than the kernel's of today, which has grown. */
	struct {
		u32 argsz, flags, num_regions, num_irqs;
	} info;
	u32 argsz;

	memcpy(&argsz, peer->payload, sizeof(argsz));
	info.argsz = sizeof(info);
	info.flags = VFIO_DEVICE_FLAGS_RESET | VFIO_DEVICE_FLAGS_PCI;
	info.num_regions = VFIO_PCI_NUM_REGIONS;
	info.num_irqs = VFIO_PCI_NUM_IRQS;
	return reply_info(peer, &info, sizeof(info), argsz);
}

static int on_get_region_info(struct vfio_user_peer *peer)
{
	struct vfio_region_info info;
	struct vfio_user_region region = { .fd = -1 };
	u32 argsz;

	memcpy(&info, peer->payload, sizeof(info));
	argsz = info.argsz;
	if (info.index >= VFIO_PCI_NUM_REGIONS)
		return -EINVAL;
	peer->ops->region(peer->context, info.index, &region);
	info.argsz = sizeof(info);
	info.flags = region.flags;
	info.cap_offset = 0;
	info.size = region.size;
	info.offset = 0;
	if (region.flags & VFIO_REGION_INFO_FLAG_MMAP)
		peer->reply_fd = region.fd;
	return reply_info(peer, &info, sizeof(info), argsz);
}

static int on_get_irq_info(struct vfio_user_peer *peer)
{
	struct vfio_irq_info info;
	u32 argsz;

	memcpy(&info, peer->payload, sizeof(info));
	argsz = info.argsz;
	if (info.index >= VFIO_PCI_NUM_IRQS)
		return -EINVAL;
	info.argsz = sizeof(info);
	info.count = peer->ops->irqs(peer->context, info.index);
	info.flags = info.count ? VFIO_IRQ_INFO_EVENTFD | VFIO_IRQ_INFO_NORESIZE : 0;
	return reply_info(peer, &info, sizeof(info), argsz);
}

/* All files, or none: then the interrupts are signalled nowhere. */
static int set_eventfds(struct vfio_user_peer *peer, const struct vfio_irq_set *set)
{
	u32 i;
	int error;

	if (peer->fds.count && peer->fds.count != set->count)
		return -EINVAL;
	for (i = 0; i < set->count; i++) {
		error = peer->ops->set_eventfd(peer->context, set->index, set->start + i,
					       vfio_user_fds_take(&peer->fds, i));
		if (error)
			return error;
	}
	return 0;
}

/* One byte for each interrupt says whether it is meant; without them, all are. */
static int trigger(struct vfio_user_peer *peer, const struct vfio_irq_set *set, const u8 *chosen)
{
	u32 i;
	int error;

	for (i = 0; i < set->count; i++) {
		if (chosen && !chosen[i])
			continue;
		error = peer->ops->trigger(peer->context, set->index, set->start + i);
		if (error)
			return error;
	}
	return 0;
}

/* No count and no data: the whole index is switched off. */
static int disable_all(struct vfio_user_peer *peer, u32 index, u32 count)
{
	u32 i;
	int error;

	for (i = 0; i < count; i++) {
		error = peer->ops->set_eventfd(peer->context, index, i, -1);
		if (error)
			return error;
	}
	return 0;
}

static int on_set_irqs(struct vfio_user_peer *peer)
{
	struct vfio_irq_set set;
	const size_t fixed = offsetof(struct vfio_irq_set, data);
	u32 count, data, action;

	memcpy(&set, peer->payload, fixed);
	data = set.flags & VFIO_IRQ_SET_DATA_TYPE_MASK;
	action = set.flags & VFIO_IRQ_SET_ACTION_TYPE_MASK;
	if (set.index >= VFIO_PCI_NUM_IRQS || set.flags != (data | action))
		return -EINVAL;
	/* None of ours can be masked. */
	if (action != VFIO_IRQ_SET_ACTION_TRIGGER)
		return -EINVAL;
	count = peer->ops->irqs(peer->context, set.index);
	if (set.start > count || set.count > count - set.start)
		return -EINVAL;
	switch (data) {
	case VFIO_IRQ_SET_DATA_NONE:
		if (!set.count)
			return set.start ? -EINVAL : disable_all(peer, set.index, count);
		return trigger(peer, &set, NULL);
	case VFIO_IRQ_SET_DATA_BOOL:
		if (payload_size(peer) - fixed < set.count)
			return -EINVAL;
		return trigger(peer, &set, peer->payload + fixed);
	case VFIO_IRQ_SET_DATA_EVENTFD:
		return set_eventfds(peer, &set);
	}
	return -EINVAL;
}

/* May @access go to its region? */
static int check_access(struct vfio_user_peer *peer, const struct vfio_user_region_access *access,
			u32 permission)
{
	struct vfio_user_region region = { .fd = -1 };
	u64 end;

	if (access->region >= VFIO_PCI_NUM_REGIONS || access->count > VFIO_USER_MAX_TRANSFER)
		return -EINVAL;
	peer->ops->region(peer->context, access->region, &region);
	if (check_add_overflow(access->offset, (u64)access->count, &end) || end > region.size)
		return -EINVAL;
	return region.flags & permission ? 0 : -EACCES;
}

static int on_region_read(struct vfio_user_peer *peer)
{
	struct vfio_user_region_access access;
	int error;

	memcpy(&access, peer->payload, sizeof(access));
	error = check_access(peer, &access, VFIO_REGION_INFO_FLAG_READ);
	if (error)
		return error;
	memcpy(peer->reply, &access, sizeof(access));
	peer->reply_size = sizeof(access) + access.count;
	return peer->ops->read(peer->context, access.region, access.offset,
			       peer->reply + sizeof(access), access.count);
}

static int on_region_write(struct vfio_user_peer *peer)
{
	struct vfio_user_region_access access;
	int error;

	memcpy(&access, peer->payload, sizeof(access));
	if (access.count != payload_size(peer) - sizeof(access))
		return -EINVAL;
	error = check_access(peer, &access, VFIO_REGION_INFO_FLAG_WRITE);
	if (error)
		return error;
	memcpy(peer->reply, &access, sizeof(access));
	peer->reply_size = sizeof(access);
	return peer->ops->write(peer->context, access.region, access.offset,
				peer->payload + sizeof(access), access.count);
}

static int on_reset(struct vfio_user_peer *peer)
{
	peer->ops->reset(peer->context);
	return 0;
}

/* Each command, the least that it brings along, and who handles it. */
static const struct {
	u16 command;
	u32 least;
	int (*handle)(struct vfio_user_peer *peer);
} commands[] = {
	{ VFIO_USER_VERSION, sizeof(struct vfio_user_version), on_version },
	{ VFIO_USER_DMA_MAP, sizeof(struct vfio_user_dma_map), on_dma_map },
	{ VFIO_USER_DMA_UNMAP, sizeof(struct vfio_user_dma_unmap), on_dma_unmap },
	{ VFIO_USER_DEVICE_GET_INFO, 4 * sizeof(u32), on_get_info },
	{ VFIO_USER_DEVICE_GET_REGION_INFO, sizeof(struct vfio_region_info), on_get_region_info },
	{ VFIO_USER_DEVICE_GET_IRQ_INFO, sizeof(struct vfio_irq_info), on_get_irq_info },
	{ VFIO_USER_DEVICE_SET_IRQS, offsetof(struct vfio_irq_set, data), on_set_irqs },
	{ VFIO_USER_REGION_READ, sizeof(struct vfio_user_region_access), on_region_read },
	{ VFIO_USER_REGION_WRITE, sizeof(struct vfio_user_region_access), on_region_write },
	{ VFIO_USER_DEVICE_RESET, 0, on_reset },
};

static int handle(struct vfio_user_peer *peer)
{
	u32 i;

	if ((peer->header.flags & VFIO_USER_TYPE_MASK) != VFIO_USER_TYPE_COMMAND)
		return -EINVAL;
	if (!peer->version_agreed && peer->header.command != VFIO_USER_VERSION)
		return -EPROTO;
	if (payload_size(peer) > MAX_PAYLOAD)
		return -EMSGSIZE;
	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		if (commands[i].command != peer->header.command)
			continue;
		if (payload_size(peer) < commands[i].least)
			return -EINVAL;
		return commands[i].handle(peer);
	}
	return -EOPNOTSUPP;
}

/* The message is complete: answer it and make room for the next one. */
static int answer(struct vfio_user_peer *peer)
{
	struct vfio_user_header reply = { peer->header.id, peer->header.command };
	int error, sent = 0;

	peer->reply_size = 0;
	peer->reply_fd = -1;
	peer->reply_fd_owned = false;
	error = handle(peer);
	/* What nobody has taken is closed before the peer learns of the end. */
	vfio_user_fds_close(&peer->fds);
	if (error)
		peer->reply_size = 0;
	reply.size = (u32)(sizeof(reply) + peer->reply_size);
	reply.flags = VFIO_USER_TYPE_REPLY | (error ? VFIO_USER_ERROR : 0);
	reply.error = (u32)-error;
	if (!(peer->header.flags & VFIO_USER_NO_REPLY))
		sent = vfio_user_io_send(peer->socket, &reply, peer->reply, peer->reply_size,
					 error ? -1 : peer->reply_fd);
	if (peer->reply_fd_owned)
		close(peer->reply_fd);
	peer->have = 0;
	return sent;
}

/* Where the next bytes go; what is too long for any command is read and dropped. */
static void *next_bytes(struct vfio_user_peer *peer, size_t *len)
{
	size_t at = peer->have - sizeof(peer->header), rest = peer->header.size - peer->have;

	if (peer->have < sizeof(peer->header)) {
		*len = sizeof(peer->header) - peer->have;
		return (u8 *)&peer->header + peer->have;
	}
	if (payload_size(peer) <= sizeof(peer->payload)) {
		*len = rest;
		return peer->payload + at;
	}
	*len = min(rest, sizeof(peer->payload));
	return peer->payload;
}

static bool complete(const struct vfio_user_peer *peer)
{
	return peer->have >= sizeof(peer->header) && peer->have >= peer->header.size;
}

int vfio_user_receive(struct vfio_user_peer *peer)
{
	u32 i;

	for (i = 0; i < READS_AT_ONCE; i++) {
		size_t len;
		void *at = next_bytes(peer, &len);
		ssize_t got = vfio_user_io_read(peer->socket, at, len, &peer->fds);
		int error;

		if (got == -EAGAIN)
			return 0;
		if (got <= 0)
			return got ? (int)got : 1;
		peer->have += (size_t)got;
		if (peer->have == sizeof(peer->header) && peer->header.size < sizeof(peer->header))
			return -EBADMSG;
		if (!complete(peer))
			continue;
		error = answer(peer);
		if (error)
			return error;
	}
	return 0;
}

struct vfio_user_peer *vfio_user_open(int fd, const struct vfio_user_ops *ops, void *context)
{
	struct vfio_user_peer *peer = calloc(1, sizeof(*peer));

	if (!peer) {
		close(fd);
		return NULL;
	}
	peer->socket = fd;
	peer->ops = ops;
	peer->context = context;
	return peer;
}

void vfio_user_close(struct vfio_user_peer *peer)
{
	if (!peer)
		return;
	vfio_user_fds_close(&peer->fds);
	close(peer->socket);
	free(peer);
}
