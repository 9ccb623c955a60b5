-- MySQL dump 10.13  Distrib 9.7.0
/*!40101 SET NAMES utf8mb4 */;
DROP TABLE IF EXISTS `customers`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
CREATE TABLE `customers` (
  `id` int NOT NULL AUTO_INCREMENT,
  `email` varchar(190) COLLATE utf8mb4_unicode_ci NOT NULL,
  `name` varchar(100) DEFAULT NULL COMMENT 'as written; by "them"',
  `credit` decimal(10,2) NOT NULL DEFAULT '0.00',
  `tier` enum('basic','gold','platinum') NOT NULL DEFAULT 'basic',
  `settings` json DEFAULT NULL,
  `created_at` timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP,
  `updated_at` datetime(6) DEFAULT NULL ON UPDATE CURRENT_TIMESTAMP(6),
  PRIMARY KEY (`id`),
  UNIQUE KEY `email` (`email`)
) ENGINE=InnoDB AUTO_INCREMENT=1234 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci;
CREATE TABLE `products` (
  `sku` char(8) NOT NULL,
  `title` text,
  `stock` int unsigned NOT NULL DEFAULT '0',
  `price` decimal(8,2) NOT NULL,
  `weight` double DEFAULT NULL,
  `active` tinyint(1) NOT NULL DEFAULT '1',
  PRIMARY KEY (`sku`),
  KEY `price` (`price`,`active`),
  CONSTRAINT `positive` CHECK (`price` >= 0)
) ENGINE=InnoDB;
CREATE TABLE `orders` (
  `id` bigint unsigned NOT NULL AUTO_INCREMENT,
  `customer_id` int NOT NULL,
  `placed` datetime NOT NULL,
  `total` decimal(12,2) GENERATED ALWAYS AS (`net` * 1.19) STORED,
  `net` decimal(10,2) NOT NULL,
  PRIMARY KEY (`id`),
  KEY `customer_id` (`customer_id`),
  CONSTRAINT `fk_c` FOREIGN KEY (`customer_id`) REFERENCES `customers` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB;
CREATE TABLE `order_items` (
  `order_id` bigint unsigned NOT NULL,
  `sku` char(8) NOT NULL,
  `quantity` smallint NOT NULL DEFAULT 1,
  PRIMARY KEY (`order_id`,`sku`),
  KEY `sku` (`sku`),
  CONSTRAINT `fk_o` FOREIGN KEY (`order_id`) REFERENCES `orders` (`id`) ON DELETE CASCADE,
  CONSTRAINT `fk_s` FOREIGN KEY (`sku`) REFERENCES `products` (`sku`) ON UPDATE CASCADE
) ENGINE=InnoDB;
INSERT INTO `products` VALUES ('a','it''s; x',1,2,3,4);
DELIMITER ;;
CREATE TRIGGER x AFTER INSERT ON orders FOR EACH ROW BEGIN UPDATE customers SET credit = 0; END ;;
DELIMITER ;
/*!50001 CREATE VIEW `v` AS SELECT 1 */;
