// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * Finds the channels of its sandbox and makes a device of each. A channel is a node of the device tree or, on a PC, a device in ACPI's
 * namespace with the same properties (PRP0001: by its `compatible`):
 *
 *   compatible = "bulkhead,channel-end-v1";
 *   reg                     all of it, as the sandbox sees it
 *   label                   its name
 *   bulkhead,peer           the sandbox at the other end
 *   bulkhead,end            0 or 1: which end this one is
 *   bulkhead,page-offset    where in it struct bh_channel lies
 *   bulkhead,terminal       it is one of the two rings of the other sandbox's console: for bulkhead-console
 *   bulkhead,telemetry      it is the latest value in which the other sandbox says what it does: for bulkhead-top
 *   interrupts              by which it is rung, if it is
 *   bulkhead,number         its number, for calls of the monitor: with one of the following
 *   bulkhead,gap-us         how many us lie at least between two rings by which this end rings the other
 *
 * One that is opened on request is another device, compatible = "bulkhead,channel-end-on-request-v1", as a module that does not know of it
 * must not look there. What it is, which else its page says, stands in the node:
 *
 *   bulkhead,kind           as in abi/channel.h
 *   bulkhead,slots          likewise
 *   bulkhead,slot-bytes
 */
#include <linux/device.h>
#include <linux/mod_devicetable.h>
#include <linux/module.h>
#include <linux/of.h>
#include <linux/property.h>
#include <linux/sysfs.h>

#include "device.h"

#ifndef BULKHEAD_VERSION
#define BULKHEAD_VERSION "unknown"
#endif

#define ON_REQUEST "bulkhead,channel-end-on-request-v1"

/* ---- /sys/class/misc/bulkhead-NAME --------------------------------------------------------------------------------------------------- */

static const char *const kind_names[] = { [BULKHEAD_MAILBOX] = "mailbox", [BULKHEAD_RING] = "ring", [BULKHEAD_LATEST] = "latest" };
static const char *const state_names[] = {
	[BULKHEAD_COMING] = "coming", [BULKHEAD_LIVES] = "lives", [BULKHEAD_GONE] = "gone", [BULKHEAD_CLOSED] = "closed"
};

static void describe(struct device *device, struct bulkhead_info *info)
{
	struct miscdevice *misc = dev_get_drvdata(device);
	struct channel *channel = container_of(misc, struct channel, misc);
	unsigned int n;

	mutex_lock(&channel->holding); /* nobody opens or closes it meanwhile */
	channel_describe(&channel->files[0], info);
	for (n = 1; n < CHANNEL_FILES; n++) {
		info->connections += READ_ONCE(channel->files[n].end.connections);
		info->refused += READ_ONCE(channel->files[n].end.refused);
	}
	mutex_unlock(&channel->holding);
}

static ssize_t kind_show(struct device *device, struct device_attribute *attribute, char *text)
{
	struct bulkhead_info info;

	describe(device, &info);
	return sysfs_emit(text, "%s\n", kind_names[info.kind]);
}
static DEVICE_ATTR_RO(kind);

static ssize_t peer_show(struct device *device, struct device_attribute *attribute, char *text)
{
	struct bulkhead_info info;

	describe(device, &info);
	return sysfs_emit(text, "%s\n", info.peer);
}
static DEVICE_ATTR_RO(peer);

static ssize_t peer_state_show(struct device *device, struct device_attribute *attribute, char *text)
{
	struct bulkhead_info info;

	describe(device, &info);
	return sysfs_emit(text, "%s\n", info.epoch && info.peer_state < ARRAY_SIZE(state_names) ? state_names[info.peer_state] : "unknown");
}
static DEVICE_ATTR_RO(peer_state);

static ssize_t terminal_show(struct device *device, struct device_attribute *attribute, char *text)
{
	struct bulkhead_info info;

	describe(device, &info);
	return sysfs_emit(text, "%d\n", info.features & BULKHEAD_IS_TERMINAL ? 1 : 0);
}
static DEVICE_ATTR_RO(terminal);

static ssize_t telemetry_show(struct device *device, struct device_attribute *attribute, char *text)
{
	struct bulkhead_info info;

	describe(device, &info);
	return sysfs_emit(text, "%d\n", info.features & BULKHEAD_IS_TELEMETRY ? 1 : 0);
}
static DEVICE_ATTR_RO(telemetry);

static ssize_t on_request_show(struct device *device, struct device_attribute *attribute, char *text)
{
	struct bulkhead_info info;

	describe(device, &info);
	return sysfs_emit(text, "%d\n", info.features & BULKHEAD_IS_ON_REQUEST ? 1 : 0);
}
static DEVICE_ATTR_RO(on_request);

#define NUMBER_ATTRIBUTE(field)                                                                            \
	static ssize_t field##_show(struct device *device, struct device_attribute *attribute, char *text) \
	{                                                                                                  \
		struct bulkhead_info info;                                                                 \
                                                                                                           \
		describe(device, &info);                                                                   \
		return sysfs_emit(text, "%u\n", info.field);                                               \
	}                                                                                                  \
	static DEVICE_ATTR_RO(field)

NUMBER_ATTRIBUTE(end);
NUMBER_ATTRIBUTE(slots);
NUMBER_ATTRIBUTE(slot_bytes);
NUMBER_ATTRIBUTE(epoch);
NUMBER_ATTRIBUTE(peer_epoch);
NUMBER_ATTRIBUTE(sent);
NUMBER_ATTRIBUTE(taken);
NUMBER_ATTRIBUTE(peer_sent);
NUMBER_ATTRIBUTE(peer_taken);
NUMBER_ATTRIBUTE(connections);
NUMBER_ATTRIBUTE(refused);

static struct attribute *channel_attrs[] = {
	&dev_attr_kind.attr,        &dev_attr_peer.attr,       &dev_attr_peer_state.attr,
	&dev_attr_end.attr,         &dev_attr_slots.attr,      &dev_attr_slot_bytes.attr,
	&dev_attr_epoch.attr,       &dev_attr_peer_epoch.attr, &dev_attr_sent.attr,
	&dev_attr_taken.attr,       &dev_attr_peer_sent.attr,  &dev_attr_peer_taken.attr,
	&dev_attr_connections.attr, &dev_attr_refused.attr,    &dev_attr_terminal.attr,
	&dev_attr_telemetry.attr,   &dev_attr_on_request.attr, NULL,
};
ATTRIBUTE_GROUPS(channel);

/* ---- Devices ------------------------------------------------------------------------------------------------------------------------- */

static bool is_name(const char *text)
{
	return *text && strlen(text) < BULKHEAD_NAME_BYTES && !strchr(text, '/') && strcmp(text, ".") && strcmp(text, "..");
}

/* Whoever has it open attaches, and finds there what is said here. */
static int read_shape(struct channel *channel)
{
	struct channel_shape *shape = &channel->shape;
	struct device *dev = channel->dev;
	u32 kind;

	if (device_property_read_u32(dev, "bulkhead,kind", &kind) || device_property_read_u32(dev, "bulkhead,slots", &shape->slots) ||
	    device_property_read_u32(dev, "bulkhead,slot-bytes", &shape->slot_bytes) ||
	    !bh_channel_valid(kind, shape->slots, shape->slot_bytes))
		return dev_err_probe(dev, -EINVAL, "its node does not say what it is\n");
	shape->role = bh_end_role_of(kind, channel->side);
	shape->readers = kind == BH_CHANNEL_LATEST ? bh_latest_readers(shape->slots) : 0;
	return 0;
}

static int read_properties(struct channel *channel)
{
	struct device *dev = channel->dev;

	if (device_property_read_string(dev, "label", &channel->name) || !is_name(channel->name))
		return dev_err_probe(dev, -EINVAL, "its `label` is no name\n");
	if (device_property_read_string(dev, "bulkhead,peer", &channel->peer))
		return dev_err_probe(dev, -EINVAL, "it has no `bulkhead,peer`\n");
	if (device_property_read_u32(dev, "bulkhead,end", &channel->side) || channel->side > 1)
		return dev_err_probe(dev, -EINVAL, "its `bulkhead,end` is neither 0 nor 1\n");
	if (device_property_read_u32(dev, "bulkhead,page-offset", &channel->page_offset))
		return dev_err_probe(dev, -EINVAL, "it has no `bulkhead,page-offset`\n");
	channel->is_terminal = device_property_read_bool(dev, "bulkhead,terminal");
	channel->is_telemetry = device_property_read_bool(dev, "bulkhead,telemetry");
	if (device_property_read_u32(dev, "bulkhead,gap-us", &channel->gap_us))
		channel->gap_us = 0;
	channel->on_request = device_property_match_string(dev, "compatible", ON_REQUEST) >= 0;
	if ((channel->gap_us || channel->on_request) && device_property_read_u32(dev, "bulkhead,number", &channel->number))
		return dev_err_probe(dev, -EINVAL, "calls of the monitor need its `bulkhead,number`\n");
	return channel->on_request ? read_shape(channel) : 0;
}

static void end_holding(void *data)
{
	channel_let_go(data);
}

/* It is always there: the device itself has it. */
static int hold_always(struct channel *channel)
{
	int error = channel_hold(channel);

	if (error == -EINVAL) /* which has said why */
		return error;
	if (error)
		return dev_err_probe(channel->dev, error, "`%s` is out of reach\n", channel->name);
	channel->shape = (struct channel_shape){ channel->first.role, channel->first.slots, channel->first.slot_bytes,
						 channel->first.readers };
	return devm_add_action_or_reset(channel->dev, end_holding, channel);
}

static int take_memory(struct channel *channel, const struct resource *memory)
{
	const resource_size_t bytes = resource_size(memory);

	if (bytes != (size_t)bytes || (phys_addr_t)memory->start != memory->start)
		return dev_err_probe(channel->dev, -EINVAL, "it lies out of reach: %pR\n", memory);
	channel->start = memory->start;
	channel->bytes = bytes;
	if (!devm_request_mem_region(channel->dev, memory->start, bytes, dev_name(channel->dev)))
		return dev_err_probe(channel->dev, -EBUSY, "somebody else has %pR\n", memory);
	return 0;
}

static int channel_probe(struct platform_device *device)
{
	struct resource *memory = platform_get_resource(device, IORESOURCE_MEM, 0);
	struct channel *channel;
	unsigned int n;
	int error;

	channel = devm_kzalloc(&device->dev, sizeof(*channel), GFP_KERNEL);
	if (!channel)
		return -ENOMEM;
	channel->dev = &device->dev;
	mutex_init(&channel->holding);
	channel_watch_init(channel);
	channel_ring_init(channel);
	if (!memory)
		return dev_err_probe(&device->dev, -EINVAL, "it has no memory\n");
	error = read_properties(channel);
	if (!error)
		error = take_memory(channel, memory);
	if (error)
		return error;
	for (n = 0; n < CHANNEL_FILES; n++) {
		mutex_init(&channel->files[n].lock);
		channel->files[n].channel = channel;
	}
	error = channel->on_request ? 0 : hold_always(channel);
	if (error)
		return error;
	channel->own_offset = channel->side ? channel->page_offset + BH_PAGE_BYTES : 0;
	channel->own_bytes = channel->side ? channel->bytes - channel->own_offset : channel->page_offset;
	channel->misc.minor = MISC_DYNAMIC_MINOR;
	channel->misc.name = devm_kasprintf(&device->dev, GFP_KERNEL, "bulkhead-%s", channel->name);
	channel->misc.nodename = devm_kasprintf(&device->dev, GFP_KERNEL, "bulkhead/%s", channel->name);
	if (!channel->misc.name || !channel->misc.nodename)
		return -ENOMEM;
	error = channel_watch_doorbell(channel, device);
	if (error)
		return error;
	channel->misc.fops = &channel_file_operations;
	channel->misc.groups = channel_groups;
	channel->misc.parent = &device->dev;
	platform_set_drvdata(device, channel);
	error = misc_register(&channel->misc);
	return error ? dev_err_probe(&device->dev, error, "no device for `%s`\n", channel->name) : 0;
}

/* Nobody has it open: a driver is taken from its devices only when its module is, and that is in use while a file is open. */
static void channel_end(void *data)
{
	struct channel *channel = data;

	misc_deregister(&channel->misc);
	channel_ring_end(channel);
}

static int channel_probe_whole(struct platform_device *device)
{
	int error = channel_probe(device);

	return error ? error : devm_add_action_or_reset(&device->dev, channel_end, platform_get_drvdata(device));
}

static const struct of_device_id channel_ids[] = { { .compatible = "bulkhead,channel-end-v1" }, { .compatible = ON_REQUEST }, {} };
/* As MODULE_DEVICE_TABLE has them made of the table; Debian's modpost for hosts of 64 bits cannot read the table of a kernel of 32. */
MODULE_ALIAS("of:N*T*Cbulkhead,channel-end-v1");
MODULE_ALIAS("of:N*T*Cbulkhead,channel-end-v1C*");
MODULE_ALIAS("of:N*T*C" ON_REQUEST);
MODULE_ALIAS("of:N*T*C" ON_REQUEST "C*");

static struct platform_driver channel_driver = {
	.probe = channel_probe_whole,
	.driver = {
		.name = "bulkhead",
		.of_match_table = channel_ids,
		.suppress_bind_attrs = true,
	},
};
module_platform_driver(channel_driver);

MODULE_DESCRIPTION("Channels between sandboxes of Bulkhead");
MODULE_AUTHOR("Bulkhead's authors");
MODULE_LICENSE("GPL");
MODULE_VERSION(BULKHEAD_VERSION);
